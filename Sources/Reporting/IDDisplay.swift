public import BSON
import CCrypto

/// How reports show the `_id`s of documents: an `_id` can be a mail address.
public enum IDDisplay: Sendable {
    /// As they are.
    case shown
    /// As a keyed hash, by which a document can be followed through reports that were made with the same key.
    case hashed(IDHash)
    /// Not at all.
    case hidden
}

extension IDDisplay {
    /// The `_id` for a person; `nil` when it is hidden.
    func text(_ id: BSONValue) -> String? {
        switch self {
        case .shown: ShellLiteral.text(id)
        case .hashed(let hash): hash.text(of: id)
        case .hidden: nil
        }
    }

    /// The `_id` for a machine; null when it is hidden.
    func json(_ id: BSONValue) -> ReportValue {
        switch self {
        case .shown: .extended(id)
        case .hashed(let hash): .string(hash.text(of: id))
        case .hidden: .null
        }
    }

    /// The `_id`s for a machine; none when they are hidden.
    func json(_ ids: [BSONValue]) -> ReportValue {
        if case .hidden = self { return .array([]) }
        return .array(ids.map { json($0) })
    }
}

/// A keyed hash of `_id`s: who has no key cannot find out an `_id` by trying likely ones.
public struct IDHash: Sendable {
    /// The hexadecimal digits that are shown: 80 bits.
    private static var digitCount: Int { 20 }

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
