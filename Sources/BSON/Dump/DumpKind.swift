/// The kind of a source of documents, recognized by its first bytes.
public enum DumpKind: Hashable, Sendable {
    /// Documents one after the other, as in a `.bson` file; also an empty source.
    case bson
    /// The output of `mongodump --archive`.
    case archive
    /// Extended JSON, as mongoexport writes it: one document after the other, or an array of them.
    case json
    /// None of the other kinds.
    case unknown
}

extension DumpInput {
    /// Recognizes the kind of the source by its first bytes, which stay pending.
    /// - Throws: ``DumpError`` when the first bytes cannot be read.
    public mutating func kind() throws(DumpError) -> DumpKind {
        try fill(5)
        if isArchive { return .archive }
        if pending.isEmpty { return .bson }
        // A BSON length ends in a byte of 0 or 1, which JSON never contains. One to three bytes are no BSON.
        if pending.count >= 4, (5...BSONFileReader.maximumDocumentSize).contains(Int(int32())) { return .bson }
        return try beginsAsJSON() ? .json : .unknown
    }

    /// Whether the pending bytes begin with 0x8199e26d, least significant byte first (mongo-tools,
    /// `common/archive/archive.go`).
    var isArchive: Bool { pending.count >= 4 && UInt32(bitPattern: int32()) == 0x8199_E26D }

    /// Whether the first byte that is not a blank opens an object or an array.
    private mutating func beginsAsJSON() throws(DumpError) -> Bool {
        var index = hasByteOrderMark ? 3 : 0
        while true {
            if index == pending.count {
                // An empty export may be one line break. A mebibyte of blanks is no export; the limit bounds the
                // memory.
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

    /// Whether UTF-8's byte order mark comes next in the pending bytes.
    var hasByteOrderMark: Bool {
        pending.count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF
    }
}
