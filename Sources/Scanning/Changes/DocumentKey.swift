package import BSON
import Checking

/// A hash of a document's `_id`, which takes only a few bytes.
///
/// `_id`s that are equal in MongoDB's order of values have the same key even if their bytes differ: a replacement may
/// turn 1 into 1.0, and the change stream then reports 1. Among a billion documents, the probability that any two have
/// the same key by chance is about 1/40. Each process hashes with a different seed.
package struct DocumentKey: Hashable, Sendable, BitwiseCopyable {
    let hash: UInt64

    /// Creates the key of a document's `_id`; `nil` if the document has none.
    package init?(of document: borrowing BSONView) throws(BSONError) {
        guard let element = try document.find("_id") else { return nil }
        var hasher = Hasher()
        try hasher.combine(element, of: document)
        hash = UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Creates a key from the `hash` of an earlier key.
    init(hash: UInt64) { self.hash = hash }
}

extension Hasher {
    /// Adds a value, so that values that are equal in MongoDB's order of values have the same hash.
    @inline(__always)
    mutating func combine(_ element: BSONElement, of view: borrowing BSONView) throws(BSONError) {
        combine(element.type.sortPlace)
        switch element.type {
        case .int, .long, .double, .decimal: combine(number: element, of: view)
        case .object, .array: try combine(nested: view.document(element))
        case .javascriptWithScope:
            let scope = try view.scope(element)
            combine(view.bytes.extracting(element.valueOffset + 4..<scope.start))
            try combine(nested: scope)
        default: combine(view.valueBytes(element))
        }
    }

    mutating func combine(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe combine(bytes: $0) }
    }

    private mutating func combine(number element: BSONElement, of view: borrowing BSONView) {
        switch element.type {
        case .int: combine(Int64(view.int32(element)))
        case .long: combine(view.int64(element))
        case .double: combine(double: view.double(element))
        default:
            let parts = DecimalParts(view.decimal(element))
            if let integer = parts.exactInt64 { return combine(integer) }
            if let double = parts.exactDouble { return combine(double: double) }
            combine(parts.isNegative)
            combine(parts.coefficient)
            combine(parts.exponent)
        }
    }

    private mutating func combine(double: Double) {
        if let integer = Int64(exactly: double) { return combine(integer) }
        combine(double.isNaN ? Double.nan.bitPattern : double.bitPattern)
    }

    @inline(never)
    private mutating func combine(nested content: borrowing BSONView) throws(BSONError) {
        var position = content.firstPosition
        while let child = try content.next(&position) {
            combine(child.nameLength)
            combine(content.nameBytes(child))
            try combine(child, of: content)
        }
        combine(Int.min)
    }
}
