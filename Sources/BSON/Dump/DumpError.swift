public import SystemPackage

/// Why a source of documents cannot be read on, and where.
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
        /// The caller asked to stop while there was nothing to read.
        public static let stopped = Self(rawValue: "was not read to its end")
        /// The source ends inside of a document.
        public static let truncated = Self(rawValue: "ends inside of a document")
        /// The source ends between documents, and says itself that more must follow.
        public static let unfinished = Self(rawValue: "ends too early")
        /// The bytes are no BSON, or the text is no extended JSON; ``DumpError/damage`` says why.
        public static let damaged = Self(rawValue: "is damaged")
        /// A document is longer than mongod would ever write.
        public static let tooLarge = Self(rawValue: "holds a document that is too large")
        /// The source is larger than one of its kind may be; ``DumpError/detail`` says how large.
        public static let tooLong = Self(rawValue: "is too large")
        /// The source is an archive of mongodump, where documents alone were expected.
        public static let archive = Self(rawValue: "is a mongodump archive")
        /// An archive of mongodump is not put together as it must be; ``DumpError/detail`` says how.
        public static let invalidArchive = Self(rawValue: "breaks mongodump's archive format")
        /// The checksum that an archive holds of a collection's documents is not theirs.
        public static let wrongChecksum = Self(rawValue: "holds documents that are not those that were dumped")
        /// The bytes that gzip compressed end too early.
        public static let truncatedGzip = Self(rawValue: "ends inside of its gzip compression")
        /// The bytes are not what gzip writes.
        public static let damagedGzip = Self(rawValue: "has damaged gzip compression")
        /// The checksum that gzip wrote is not that of the bytes.
        public static let wrongGzipChecksum = Self(rawValue: "is not what gzip compressed")
    }

    /// The kind of failure.
    public let code: Code
    /// The file; `-` for standard input.
    public let path: FilePath
    /// The byte, from 0, where it was noticed, of what the source holds after gzip was undone.
    public let offset: Int64
    /// The line, from 1, of the document that is meant; `nil` for what is no text.
    public let line: Int?
    /// The documents before the failure, all of them good, but where a checksum says otherwise.
    public let documents: Int
    /// What is wrong with the document that begins at or before ``offset``; its own offset counts from its first byte.
    public let damage: BSONError?
    /// What the operating system said.
    public let errno: Errno?
    /// What there is to say beyond the code; never a document's value.
    public let detail: String?

    init(
        _ code: Code, path: FilePath, offset: Int64, documents: Int, damage: BSONError? = nil, line: Int? = nil,
        errno: Errno? = nil, detail: String? = nil
    ) {
        self.code = code
        self.path = path
        self.offset = offset
        self.documents = documents
        self.damage = damage
        self.line = line
        self.errno = errno
        self.detail = detail
    }

    /// Damage inside of a document that was read.
    /// - Parameters:
    ///   - documentOffset: where the document begins.
    ///   - documents: the documents before it.
    public init(_ damage: BSONError, path: FilePath, documentOffset: Int64, documents: Int) {
        self.init(
            .damaged, path: path, offset: documentOffset + Int64(damage.offset), documents: documents, damage: damage)
    }

    init(_ failure: ByteStream.Failure, path: FilePath, offset: Int64, documents: Int) {
        let (code, errno): (Code, Errno?) =
            switch failure {
            case .system(let errno): (.unreadable, errno)
            case .stopped: (.stopped, nil)
            case .endsInsideOfGzip: (.truncatedGzip, nil)
            case .gzip(.invalid): (.damagedGzip, nil)
            case .gzip(.checksum): (.wrongGzipChecksum, nil)
            }
        self.init(code, path: path, offset: offset, documents: documents, errno: errno)
    }
}

extension DumpError: CustomStringConvertible {
    /// The source, the failure, the byte, and how many documents were good.
    public var description: String {
        let name = path == DumpInput.standardInput ? "standard input" : path.string
        if let errno { return "\(name) \(code.rawValue): \(errno)" }
        if code == .archive { return "\(name) \(code.rawValue)" }
        let place = "at byte \(offset)" + (line.map { ", line \($0)" } ?? "")
        let cause = (detail ?? damage.map(Self.cause)).map { " (\($0))" } ?? ""
        return "\(name) \(code.rawValue) \(place)\(cause); \(before)"
    }

    private static func cause(_ damage: BSONError) -> String {
        damage.code == .invalidJSON ? damage.detail ?? damage.code.rawValue : damage.code.rawValue
    }

    private var before: String {
        // Without the right checksum nobody knows where the damage begins.
        let isVouchedFor = ![.wrongChecksum, .wrongGzipChecksum, .damagedGzip].contains(code)
        let verb = isVouchedFor ? "good" : "not to be trusted either"
        return documents == 1 ? "the document before it is \(verb)" : "\(documents) documents before it are \(verb)"
    }
}
