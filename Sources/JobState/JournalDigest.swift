package import BSON
import Jobs

/// A digest of a value, 16 bytes long: the beginning of the SHA-256 of the value's type and bytes.
///
/// The digest of a missing field is 0.
package struct JournalDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// The number of bytes of a digest.
    static let width = 16

    package init(of document: BSONDocument) {
        let digest = SHA256.digest(of: document.bytes)
        self.init(digest[..<Self.width])
    }

    /// Creates the digest of a field; `element` is `nil` for a missing field.
    package init(of element: BSONElement?, in document: borrowing BSONView) {
        guard let element else {
            self.init(high: 0, low: 0)
            return
        }
        let words = SHA256.words(of: element.type.rawValue, document.valueBytes(element))
        self.init(high: words.0, low: words.1)
    }

    /// Creates the digest of the value at a path through objects; `nil` if an object of the path is missing.
    package init?(at path: ArraySlice<String>, in document: borrowing BSONView) throws(BSONError) {
        guard let name = path.first else { return nil }
        let element = try document.find(name)
        if path.count > 1 {
            guard let element, element.type == .object else { return nil }
            try self.init(at: path.dropFirst(), in: document.document(element))
        } else {
            self.init(of: element, in: document)
        }
    }

    /// A digest that no value has.
    static let impossible = JournalDigest(high: .max, low: .max)

    private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    private init(_ digest: ArraySlice<UInt8>) {
        func word(_ start: Int) -> UInt64 {
            digest.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        (high, low) = (word(0), word(8))
    }

    func append(to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { unsafe bytes.append(contentsOf: $0) }
    }

    var bson: BSONValue { Self.bson([self]) }

    /// The digests as one binary value, one after another.
    static func bson(_ digests: [JournalDigest]) -> BSONValue {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digests.count * width)
        for digest in digests { digest.append(to: &bytes) }
        return .binary(subtype: 0, bytes: bytes)
    }

    /// Reads a stored digest; `nil` for any other value.
    package init?(_ value: BSONValue?) {
        guard case .binary(_, let bytes)? = value, bytes.count == Self.width else { return nil }
        self.init(bytes[...])
    }

    /// Reads digests that are stored one after another.
    static func all(in bytes: [UInt8]) -> [JournalDigest] {
        stride(from: 0, to: bytes.count - bytes.count % width, by: width).map {
            JournalDigest(bytes[$0..<$0 + width])
        }
    }
}
