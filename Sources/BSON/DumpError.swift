public import SystemPackage

/// Why a file of documents cannot be read on, and where.
public struct DumpError: Error, Hashable, Sendable {
    /// The kind of failure.
    ///
    /// Open: later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short stable name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The operating system refused; ``DumpError/errno`` says why.
        public static let unreadable = Self(rawValue: "cannot be read")
        /// The file ends inside of a document.
        public static let truncated = Self(rawValue: "ends inside of a document")
        /// The bytes are no BSON; ``DumpError/damage`` says why.
        public static let damaged = Self(rawValue: "is damaged")
        /// A document's length is more than mongod would ever write.
        public static let tooLarge = Self(rawValue: "holds a document that is too large")
        /// The file is compressed with gzip.
        public static let compressed = Self(rawValue: "is compressed, which is not read yet: extract it with `gunzip`")
        /// The file is an archive of mongodump.
        public static let archive = Self(
            rawValue: "is a mongodump archive, which is not read yet: dump without `--archive`, into a folder")
    }

    /// The kind of failure.
    public let code: Code
    /// The file.
    public let path: FilePath
    /// The byte of the file, from 0, where it was noticed.
    public let offset: Int64
    /// The documents before the failure, all of them good.
    public let documents: Int
    /// What is wrong with the document that begins at or before ``offset``; its own offset counts from its first byte.
    public let damage: BSONError?
    /// What the operating system said.
    public let errno: Errno?

    init(
        _ code: Code, path: FilePath, offset: Int64, documents: Int, damage: BSONError? = nil, errno: Errno? = nil
    ) {
        self.code = code
        self.path = path
        self.offset = offset
        self.documents = documents
        self.damage = damage
        self.errno = errno
    }
}

extension DumpError: CustomStringConvertible {
    /// The file, the failure, the byte, and how many documents were good.
    public var description: String {
        if code == .compressed || code == .archive { return "\(path) \(code.rawValue)" }
        if let errno { return "\(path) \(code.rawValue): \(errno)" }
        let cause = damage.map { " (\($0.code.rawValue))" } ?? ""
        let good = documents == 1 ? "the document before it is good" : "\(documents) documents before it are good"
        return "\(path) \(code.rawValue) at byte \(offset)\(cause); \(good)"
    }
}
