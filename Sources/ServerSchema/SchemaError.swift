/// An error that makes a schema unusable: the problem, its position, and how to solve it.
public struct SchemaError: Error, Hashable, Sendable {
    /// The kind of defect.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name of the kind, as reports show it.
        public let rawValue: String
        /// Creates a code from the name of a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A file or folder does not exist, or cannot be read.
        public static let unreadable = Self(rawValue: "unreadable")
        /// A file, a line or a schema is larger, or contains more values, than is allowed.
        public static let tooLarge = Self(rawValue: "too-large")
        /// The bytes of a file are not UTF-8.
        public static let notUTF8 = Self(rawValue: "not-utf8")
        /// The text of a file has a syntax error, for example in its JSON.
        public static let syntax = Self(rawValue: "json-syntax")
        /// Values or schemas are nested more deeply than is allowed.
        public static let tooDeep = Self(rawValue: "too-deep")
        /// A part that may appear only once, such as a keyword or a name, appears twice.
        public static let duplicate = Self(rawValue: "duplicate")
        /// A value is of the wrong kind, or is not allowed.
        public static let wrongValue = Self(rawValue: "wrong-value")
        /// `bsonType` or `type` names a type that does not exist.
        public static let unknownType = Self(rawValue: "unknown-type")
        /// The dialect does not know a keyword, an attribute, or an argument of an attribute.
        public static let unknownKeyword = Self(rawValue: "unknown-keyword")
        /// A regular expression does not compile.
        public static let invalidPattern = Self(rawValue: "invalid-pattern")
        /// A part of a schema contradicts another part, or another schema.
        public static let conflict = Self(rawValue: "keyword-conflict")
        /// The root of a schema does not describe a document.
        public static let rootNotObject = Self(rawValue: "root-not-object")
        /// A schema or a part of it is missing, or it is unclear which of several schemas is meant.
        public static let schemaMissing = Self(rawValue: "schema-missing")
        /// The collection that a schema belongs to is unknown, or has a name that no server accepts.
        public static let namespaceUnknown = Self(rawValue: "namespace-unknown")
        /// The schema names collections, but neither it nor the caller names a database.
        public static let databaseUnknown = Self(rawValue: "database-unknown")
        /// One collection has two schemas.
        public static let namespaceDuplicate = Self(rawValue: "namespace-duplicate")
        /// A reference to an environment value cannot be resolved.
        public static let expansion = Self(rawValue: "expansion-unresolved")
        /// A part of a file, such as a keyword or a reference, is known but not supported.
        public static let unsupported = Self(rawValue: "unsupported")
    }

    /// The kind of defect.
    public let code: Code
    /// The position of the defect in the file.
    public let location: SourceLocation
    /// A clause that says what is wrong; it never contains a value of a document.
    public let message: String
    /// A clause that says what to do about the defect; `nil` if there is no advice.
    public let remedy: String?
    /// The other errors of the schema, if the reader continued after this one.
    public private(set) var others: [SchemaError] = []

    /// The largest number of a schema's errors that are shown; more errors are only counted.
    package static let mostShown = 20

    /// Creates an error from its parts.
    public init(_ code: Code, at location: SourceLocation, _ message: String, remedy: String? = nil) {
        self.code = code
        self.location = location
        self.message = message
        self.remedy = remedy
    }
}

extension SchemaError {
    /// Combines errors into one: the first error, which lists the other errors in ``others``; `nil` if there are no
    /// errors.
    /// - Parameter files: the files, in the order in which their errors are shown.
    init?(_ errors: [SchemaError], inOrderOf files: [String]) {
        let order = Dictionary(files.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        func key(_ error: SchemaError) -> (Int, Int, Int) {
            (order[error.location.file] ?? .max, error.location.line, error.location.column)
        }
        let sorted = errors.sorted { key($0) < key($1) }
        guard let first = sorted.first else { return nil }
        self = first
        others = Array(sorted.dropFirst())
    }
}

extension SchemaError {
    /// Returns the error for a schema that is inside too many others.
    static func tooDeep(at location: SourceLocation) -> SchemaError {
        SchemaError(
            .tooDeep, at: location, "schemas are nested more than \(SchemaNode.maximumDepth) levels deep",
            remedy: "move the inner values into documents of their own")
    }
}

extension SchemaError: CustomStringConvertible {
    /// The error as text: `file:line:column: message (remedy)`.
    public var description: String { "\(location): \(message)" + (remedy.map { " (\($0))" } ?? "") }
}
