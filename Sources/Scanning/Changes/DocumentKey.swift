import BSON

/// The `_id` of a document in a few bytes: a hash of its type and value, seeded anew for every process.
///
/// It tells 1 from 1.0, as bytes do. Two of a billion documents share one with a probability of about a fortieth.
struct DocumentKey: Hashable, Sendable, BitwiseCopyable {
    let hash: UInt64

    /// Of the `_id` of a document; `nil` when it has none.
    init?(of document: borrowing BSONView) throws(BSONError) {
        guard let element = try document.find("_id") else { return nil }
        self.init(element, of: document)
    }

    /// Of a hash that was made before.
    init(hash: UInt64) { self.hash = hash }

    private init(_ element: BSONElement, of view: borrowing BSONView) {
        var hasher = Hasher()
        hasher.combine(element.type.rawValue)
        unsafe view.valueBytes(element).withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hash = UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
