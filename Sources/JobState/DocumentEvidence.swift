package import BSON

/// The evidence that distinguishes a document from a later one with the same `_id`.
///
/// For each of a few fields that the job does not write, the evidence has two bytes: a digest of the field's type and
/// value.
///
/// Users may change or add any of these fields. A document therefore counts as replaced only if most of the fields that
/// it had before have changed, or if the changed and added fields outnumber the unchanged ones by at least two.
package struct DocumentEvidence: Hashable, Sendable {
    /// The names of the fields of which a digest is stored.
    package let names: [String]

    package init(_ names: [String]) { self.names = names }

    /// The number of bytes of a field's digest.
    static let width = 2
    /// The largest total size, in bytes, of the fields of one document from which evidence is computed; a document with
    /// larger fields has no evidence.
    package static let largest = 65_536

    /// Returns the digests of a document's fields, as ``Digest`` describes them.
    package func digest(of document: BSONDocument) throws(BSONError) -> [UInt8] {
        let view = document.view
        var digest = Digest(of: names.count)
        for name in names { digest.add(try view.find(name), of: view) }
        return digest.finish()
    }

    /// The digests of one document's fields, as the journal stores them: two bytes for each field, both 0 for a missing
    /// one.
    package struct Digest {
        private var bytes: [UInt8] = []
        /// The size in bytes of a document that consists of the fields that were added so far.
        private var size = 5

        /// Begins the digests of this number of fields.
        package init(of count: Int) { bytes.reserveCapacity(count * DocumentEvidence.width) }

        /// Adds the digest of the next field; `element` is `nil` if the document lacks the field.
        package mutating func add(_ element: BSONElement?, of document: borrowing BSONView) {
            var digest: UInt16 = 0
            if let element {
                size += 2 + element.nameLength + element.valueLength
                digest = DocumentEvidence.digest(of: document.valueBytes(element), element.type)
            }
            bytes.append(UInt8(truncatingIfNeeded: digest >> 8))
            bytes.append(UInt8(truncatingIfNeeded: digest))
        }

        /// Returns the digests; all are 0 if the fields together are larger than `largest` bytes.
        package func finish(largest: Int = .max) -> [UInt8] {
            size > largest ? Array(repeating: 0, count: bytes.count) : bytes
        }
    }

    /// Returns the FNV-1a hash of a field's type and value, folded to 16 bits; never 0.
    ///
    /// A fast hash is enough, because a forged collision gains an attacker nothing.
    private static func digest(of value: RawSpan, _ type: BSONType) -> UInt16 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(type.rawValue)
        for index in 0..<value.byteCount {
            let byte = unsafe value.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let folded = UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48)
        return folded == 0 ? 1 : folded
    }

    /// Returns the evidence of one document from `bytes`, which holds the evidence of several documents one after
    /// another.
    ///
    /// - Parameter place: the index of the document. The result is `nil` if `bytes` has no evidence for this index.
    func part(_ place: Int, of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let length = names.count * Self.width
        guard length > 0, bytes.count >= (place + 1) * length else { return nil }
        return bytes[place * length..<(place + 1) * length]
    }

    /// Whether another document has replaced the document since its evidence `before` was stored.
    ///
    /// ``DocumentEvidence`` describes the rule.
    package func isReplaced(_ now: BSONDocument, since before: ArraySlice<UInt8>) throws(BSONError) -> Bool {
        let now = try digest(of: now)
        var (had, same, added) = (0, 0, 0)
        for index in names.indices {
            let was = before.dropFirst(index * Self.width).prefix(Self.width)
            let isNow = now[index * Self.width..<(index + 1) * Self.width]
            guard was.contains(where: { $0 != 0 }) else {
                if isNow.contains(where: { $0 != 0 }) { added += 1 }
                continue
            }
            had += 1
            if was.elementsEqual(isNow) { same += 1 }
        }
        // In a replaced document, the few fields of the evidence may have their old values by chance, so fields that
        // were missing before and exist now are counted as well. A document without evidence (it had none of the
        // fields, or they were too large) never counts as replaced.
        return had > 0 && (same * 2 < had || same * 2 + 1 < had + added)
    }
}
