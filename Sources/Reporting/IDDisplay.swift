public import BSON
import CCrypto

/// How reports show `_id`s, which can be personal data such as a mail address.
public enum IDDisplay: Sendable {
    case shown
    /// A keyed hash. It identifies a document across reports that were made with the same key.
    case hashed(IDHash)
    /// Reports show no `_id`s.
    case hidden
}

extension IDDisplay {
    /// Returns the `_id` as text; `nil` if it is hidden.
    func text(_ id: BSONValue) -> String? {
        switch self {
        case .shown: id.shellText
        case .hashed(let hash): hash.text(of: id)
        case .hidden: nil
        }
    }

    /// Returns the `_id` as JSON; JSON `null` if it is hidden.
    func json(_ id: BSONValue) -> ReportValue {
        switch self {
        case .shown: .extended(id)
        case .hashed(let hash): .string(hash.text(of: id))
        case .hidden: .null
        }
    }

    /// Returns the `_id`s as JSON; an empty array if they are hidden.
    func json(_ ids: [BSONValue]) -> ReportValue {
        if case .hidden = self { return .array([]) }
        return .array(ids.map { json($0) })
    }
}

/// A keyed hash of `_id`s.
///
/// Without the key, a reader of the hash cannot find the `_id` by hashing likely `_id`s.
public struct IDHash: Sendable {
    private static var digitCount: Int { 20 }

    private let key: [UInt8]

    /// Creates a hash with a key; two runs with the same key make the same hashes.
    public init(key: [UInt8]) { self.key = key }

    /// Returns `#` and the first digits of the HMAC-SHA-256 of the text that ``IDDisplay/shown`` shows for the `_id`.
    ///
    /// The C function `HMAC` of libcrypto computes the HMAC.
    public func text(of id: BSONValue) -> String {
        let data = Array(id.shellText.utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe ccrypto_hmac_sha256(key, key.count, data, data.count, &digest)
        precondition(isDone, "HMAC fails only without memory")
        let digits = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "#" + digits.joined().prefix(Self.digitCount)
    }
}
