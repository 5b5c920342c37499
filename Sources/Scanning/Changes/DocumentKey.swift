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
        var hasher = KeyHasher()
        try hasher.combine(element, of: document)
        hash = hasher.hash.high
    }

    init(hash: UInt64) { self.hash = hash }
}

/// Hashes values so that values that are equal in MongoDB's order of values have the same hash; faster than `Hasher`.
///
/// Two numbers of 64 bits are multiplied with secret factors, as in wyhash.
struct KeyHasher {
    private static let seeds = (0..<4).map { _ in UInt64.random(in: 0 ... .max) | 1 }
    private static let (first, second, third, fourth) = (seeds[0], seeds[1], seeds[2], seeds[3])

    private var (low, high) = (first, second)

    /// The hash of what was added so far.
    var hash: KeyHash { KeyHash(high: high ^ low &* Self.first, low: UInt32(truncatingIfNeeded: low >> 32)) }

    @inline(__always)
    mutating func combine(_ word: UInt64) {
        let one = (low ^ word).multipliedFullWidth(by: Self.third)
        let other = (high &+ word).multipliedFullWidth(by: Self.fourth)
        (low, high) = (one.high ^ one.low, other.high ^ other.low ^ low)
    }

    @inline(__always)
    mutating func combine(_ number: Int) { combine(UInt64(bitPattern: Int64(number))) }

    mutating func combine(_ bytes: RawSpan) {
        let count = bytes.byteCount
        combine(count)
        var at = 0
        while at &+ 8 <= count {
            combine(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self))
            at &+= 8
        }
        guard at < count else { return }
        var last: UInt64 = 0
        while at < count {
            last = last << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: at, as: UInt8.self))
            at &+= 1
        }
        combine(last)
    }
}

extension KeyHasher {
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

    /// Adds a value of a type whose values have no bytes, such as null.
    mutating func combine(empty type: BSONType) {
        combine(type.sortPlace)
        combine(0)
    }

    private mutating func combine(number element: BSONElement, of view: borrowing BSONView) {
        switch element.type {
        case .int: combine(Int(view.int32(element)))
        case .long: combine(Int(view.int64(element)))
        case .double: combine(double: view.double(element))
        default:
            let parts = DecimalParts(view.decimal(element))
            if let integer = parts.exactInt64 { return combine(Int(integer)) }
            if let double = parts.exactDouble { return combine(double: double) }
            combine(parts.isNegative ? 1 : 0)
            combine(UInt64(truncatingIfNeeded: parts.coefficient))
            combine(UInt64(truncatingIfNeeded: parts.coefficient >> 64))
            combine(Int(parts.exponent))
        }
    }

    private mutating func combine(double: Double) {
        if let integer = Int64(exactly: double) { return combine(Int(integer)) }
        combine(Int.max)
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
