package import BSON
import Jobs

/// What the touched fields of a document are, in 16 bytes: the beginning of the SHA-256 of a document of them.
///
/// The fields stand in the order of their names' bytes; one that is missing is left out.
package struct JournalDigest: Hashable {
    private let high: UInt64
    private let low: UInt64

    /// The digest of a document of the fields.
    package init(of fields: BSONDocument) { self.init(SHA256.digest(of: fields.bytes)) }

    private init(_ digest: [UInt8]) {
        func word(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        (high, low) = (word(0), word(8))
    }

    /// As the journal holds it.
    var bson: BSONValue {
        let bytes = [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
        return .binary(subtype: 0, bytes: bytes)
    }

    /// Reads what ``bson`` wrote; `nil` for anything else.
    package init?(_ value: BSONValue?) {
        guard case .binary(_, let bytes)? = value, bytes.count == 16 else { return nil }
        self.init(bytes)
    }
}
