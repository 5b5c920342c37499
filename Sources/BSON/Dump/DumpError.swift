public import SystemPackage

/// The reason why the rest of a source of documents cannot be read, and the position where reading failed.
public struct DumpError: Error, Hashable, Sendable {
    /// The kind of failure.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The short stable name of the kind of failure.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The operating system refused to read; ``DumpError/errno`` says why.
        public static let unreadable = Self(rawValue: "cannot be read")
        /// The caller requested a stop while there was nothing to read.
        public static let stopped = Self(rawValue: "was not read to its end")
        /// The source ends in the middle of a document.
        public static let truncated = Self(rawValue: "ends inside a document")
        /// The source ends between documents, but its content says that more must follow.
        public static let unfinished = Self(rawValue: "ends too early")
        /// The bytes are not BSON, or the text is not extended JSON; ``DumpError/damage`` says why.
        public static let damaged = Self(rawValue: "is damaged")
        /// A document is longer than mongod allows, or its JSON text is longer than the reader accepts.
        public static let tooLarge = Self(rawValue: "holds a document that is too large")
        /// The source is larger than allowed for its kind; ``DumpError/detail`` states the limit.
        public static let tooLong = Self(rawValue: "is too large")
        /// The source is a mongodump archive, but only documents were expected.
        public static let archive = Self(rawValue: "is a mongodump archive")
        /// A mongodump archive violates the format; ``DumpError/detail`` says how.
        public static let invalidArchive = Self(rawValue: "violates mongodump's archive format")
        /// The checksum of a collection in an archive differs from the checksum of the collection's documents.
        public static let wrongChecksum = Self(rawValue: "holds documents that differ from the dumped ones")
        /// The compressed bytes end too early.
        public static let truncatedGzip = Self(rawValue: "ends inside its gzip compression")
        /// The bytes are not valid gzip.
        public static let damagedGzip = Self(rawValue: "has damaged gzip compression")
        /// The checksum that gzip wrote differs from the checksum of the uncompressed bytes.
        public static let wrongGzipChecksum = Self(rawValue: "differs from what gzip compressed")
    }

    /// The kind of failure.
    public let code: Code
    /// The path of the file; `-` for standard input.
    public let path: FilePath
    /// The offset of the failure in the decompressed bytes, counted from 0.
    public let offset: Int64
    /// The line in which the failing document begins, counted from 1; `nil` if it is not known, as for BSON.
    public let line: Int?
    /// The number of documents before the failure.
    ///
    /// If a checksum is wrong or the compression is damaged, these documents may be damaged as well; otherwise, they
    /// are not affected.
    public let documents: Int
    /// The defect that caused the failure, with an offset from the document's first byte; `nil` for another cause.
    public let damage: BSONError?
    /// The error of the operating system; `nil` if there is none.
    public let errno: Errno?
    /// An explanation in addition to the code, or `nil`; it never contains a value of a document.
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

    /// Creates the error for damage in a document that was read.
    /// - Parameters:
    ///   - documentOffset: the offset of the document in the file.
    ///   - documents: the number of documents before the damaged one.
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
    /// The error as text: the source and the failure.
    ///
    /// Usually, the text also has the offset of the failure, and says whether the documents before the failure are
    /// good.
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
        // If a checksum is wrong or the compression is damaged, the damage may begin anywhere before the offset.
        let isVouchedFor = ![.wrongChecksum, .wrongGzipChecksum, .damagedGzip].contains(code)
        let verb = isVouchedFor ? "good" : "unreliable, too"
        return documents == 1 ? "the document before it is \(verb)" : "\(documents) documents before it are \(verb)"
    }
}
