package import BSON

/// The evidence that distinguishes a document from a later one with the same `_id`: for a few fields that the job does
/// not write, two bytes of a digest of each.
///
/// Users may change or add any of these fields. A document counts as replaced once most of the fields that it had
/// differ, or more fields were added than stayed the same.
package struct DocumentEvidence: Hashable, Sendable {
    /// The names of the fields.
    package let names: [String]

    /// Creates evidence of the named fields.
    package init(_ names: [String]) { self.names = names }

    private static let width = 2
    /// The most bytes that the fields may take together; larger ones are not digested.
    package static let largest = 65_536

    /// Returns the digests of the fields in a document, as the journal holds them: 0 for a missing field.
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
    /// A fast hash is enough, because no one gains by a collision.
    private static func digest(of value: RawSpan, _ type: BSONType) -> UInt16 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(type.rawValue)
        for index in 0..<value.byteCount {
            let byte = unsafe value.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let folded = UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48)
        return folded == 0 ? 1 : folded
    }

    /// Returns the evidence of the document at one place of a group; `nil` where the group's bytes do not reach so far.
    func part(_ place: Int, of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let length = names.count * Self.width
        guard length > 0, bytes.count >= (place + 1) * length else { return nil }
        return bytes[place * length..<(place + 1) * length]
    }

    /// Whether most of the fields that the document had differ now, or it gained more of them than stayed the same.
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
        // A document with few fields may have the same ones by chance. One that had none, or was too large, gives no
        // evidence.
        return had > 0 && (same * 2 < had || same * 2 + 1 < had + added)
    }
}
