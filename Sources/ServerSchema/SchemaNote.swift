public import BSON

/// A remark about a schema that does not make it unusable.
public struct SchemaNote: Hashable, Sendable {
    /// The kind of note.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short stable name.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A note that no other kind fits.
        public static let general = Self(rawValue: "note")
        /// A keyword that no dialect knows.
        public static let unknownKeyword = Self(rawValue: "unknown-keyword")
        /// A keyword that no dialect knows, and that looks like one that is known.
        public static let misspeltKeyword = Self(rawValue: "misspelt-keyword")
        /// A keyword that is known but that no rule evaluates yet.
        public static let unevaluatedKeyword = Self(rawValue: "keyword-unevaluated")
        /// `type` is used where `bsonType` is expected.
        public static let jsonTypeUsed = Self(rawValue: "json-type-used")
        /// A type is spelled as another tool spells it, or has no client type.
        public static let typeSpelling = Self(rawValue: "type-spelling")
        /// A `schema.json` that holds `{}`.
        public static let placeholder = Self(rawValue: "schema-placeholder")
        /// `_id` has no entry in the root's `properties`.
        public static let idMissing = Self(rawValue: "id-missing")
        /// A `default` of null counts as no default.
        public static let defaultNull = Self(rawValue: "default-null")
        /// A schema that is not used, because another data source has a schema of the same collection.
        public static let otherService = Self(rawValue: "other-service")
        /// A part of a schema that cannot be read; only lint continues without it.
        public static let invalid = Self(rawValue: "schema-invalid")
        /// A link that starts from a field that the schema does not have, or whose entry is incomplete, malformed or
        /// contradictory.
        public static let linkUnresolved = Self(rawValue: "link-unresolved")
    }

    /// The kind of note.
    public var code: Code
    /// The position in the file that the note is about.
    public var location: SourceLocation
    /// The remark, as one clause.
    public var message: String
    /// A clause that says what to do about the remark; `nil` if there is no advice.
    public var remedy: String?
    /// The collection whose schema the note concerns; `nil` when it is not known.
    public var namespace: Namespace?
    /// The path, within the collection's schema, of the part that the note is about.
    public var path = SchemaPath()

    /// Creates a note without a remedy.
    public init(_ code: Code = .general, location: SourceLocation, message: String) {
        self.code = code
        self.location = location
        self.message = message
    }

    /// Creates a note about a part of a schema that cannot be read, from the error of reading it.
    init(_ error: SchemaError) {
        self.init(.invalid, location: error.location, message: error.message)
        remedy = error.remedy
    }
}

extension SchemaNote: CustomStringConvertible {
    /// `file:line:column: message`.
    public var description: String { "\(location): \(message)" }
}
