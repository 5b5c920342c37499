/// What a source of documents is, told by its first bytes.
public enum DumpKind: Hashable, Sendable {
    /// Documents one after the other, as in a `.bson` file; also a source of no bytes.
    case bson
    /// What `mongodump --archive` writes.
    case archive
    /// Extended JSON, as mongoexport writes it: one document after the other, or an array of them.
    case json
    /// None of these.
    case unknown
}

extension DumpInput {
    /// Looks at the first bytes, which are still given afterwards.
    /// - Throws: ``DumpError`` when they cannot be read.
    public mutating func kind() throws(DumpError) -> DumpKind {
        try fill(5)
        if isArchive { return .archive }
        if pending.isEmpty { return .bson }
        // The last byte of a length is at most 1, and such a byte is nowhere in JSON; fewer bytes than that are either.
        if pending.count >= 4, (5...BSONFileReader.maximumDocumentSize).contains(Int(int32())) { return .bson }
        return try beginsAsJSON() ? .json : .unknown
    }

    /// 0x8199e26d, least significant byte first (mongo-tools, `common/archive/archive.go`).
    var isArchive: Bool { pending.count >= 4 && UInt32(bitPattern: int32()) == 0x8199_E26D }

    /// Whether the first byte that is no blank opens an object or an array.
    private mutating func beginsAsJSON() throws(DumpError) -> Bool {
        var index = hasByteOrderMark ? 3 : 0
        while true {
            if index == pending.count {
                // An export of nothing may be one line break; so many of them are no export, and memory stays bounded.
                guard index < 1 << 20 else { return false }
                guard try fillMore() else { return true }
            }
            switch self[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): return true
            default: return false
            }
        }
    }

    /// Whether UTF-8's byte order mark comes next.
    var hasByteOrderMark: Bool {
        pending.count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF
    }
}
