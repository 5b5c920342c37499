public import BSON
import CCrypto

/// A keyed hash of `_id`s: who has no key cannot find out an `_id` by trying likely ones.
public struct IDHash: Sendable {
    /// The hexadecimal digits that are shown: 80 bits.
    static var digitCount: Int { 20 }

    private let key: [UInt8]

    /// Hashes with a key; who wants the same hashes in two runs gives both the same.
    public init(key: [UInt8]) { self.key = key }

    /// The beginning of the HMAC-SHA-256 of the `_id`, written as ``IDDisplay/shown`` writes it, behind a `#`.
    ///
    /// The corresponding C function is `HMAC` of libcrypto.
    public func text(of id: BSONValue) -> String {
        let data = Array(ShellLiteral.text(id).utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe ccrypto_hmac_sha256(key, key.count, data, data.count, &digest)
        precondition(isDone, "HMAC fails only for want of memory")
        let digits = digest.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return "#" + digits.joined().prefix(Self.digitCount)
    }
}
