package import BSON

/// What tells a document from another that has its `_id` later: a few of its fields that the job does not write, two bytes
/// of a digest of each.
///
/// One of them may change or be added as users like: a document counts as replaced once most of them are others, or more were
/// added than are left.
package struct DocumentEvidence: Hashable, Sendable {
    /// The fields, by their names.
    package let names: [String]

    /// Chooses the fields.
    package init(_ names: [String]) { self.names = names }

    private static let width = 2
    /// Fields that are longer than this together are not looked at.
    package static let largest = 65_536

    /// What the fields are in a document, as the journal holds it: 0 for one that is missing.
    package func digest(of document: BSONDocument) throws(BSONError) -> [UInt8] {
        let view = document.view
        var bytes: [UInt8] = []
        for name in names {
            guard let element = try view.find(name) else {
                bytes += [0, 0]
                continue
            }
            let digest = Self.digest(of: view.valueBytes(element), element.type)
            bytes += [UInt8(truncatingIfNeeded: digest >> 8), UInt8(truncatingIfNeeded: digest)]
        }
        return bytes
    }

    /// FNV-1a over type and value, folded; never 0.
    ///
    /// Nobody gains by a collision, so a fast one does.
    private static func digest(of value: RawSpan, _ type: BSONType) -> UInt16 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(type.rawValue)
        for index in 0..<value.byteCount {
            let byte = unsafe value.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let folded = UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48)
        return folded == 0 ? 1 : folded
    }

    /// What a group's bytes hold of the document at a place in it.
    func part(_ place: Int, of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let length = names.count * Self.width
        guard length > 0, bytes.count >= (place + 1) * length else { return nil }
        return bytes[place * length..<(place + 1) * length]
    }

    /// Whether most of the fields that a document had are others now, or it has more that are new to it.
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
        // One that had few fields may have the same by chance; of one that had none, or was too large, nothing is known.
        return had > 0 && (same * 2 < had || same * 2 + 1 < had + added)
    }
}
