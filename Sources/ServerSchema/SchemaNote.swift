public import BSON

/// A remark of the reader about a schema, which does not stop the reading.
public struct SchemaNote: Hashable, Sendable {
    /// The kind of note.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name of the kind, as reports show it.
        public let rawValue: String
        /// Creates a code from the name of a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A note that fits no other kind.
        public static let general = Self(rawValue: "note")
        /// A schema has a keyword that no dialect knows.
        public static let unknownKeyword = Self(rawValue: "unknown-keyword")
        /// A schema has a keyword that no dialect knows, but that resembles a known keyword.
        public static let misspeltKeyword = Self(rawValue: "misspelt-keyword")
        /// A keyword is known, but no rule evaluates it.
        public static let unevaluatedKeyword = Self(rawValue: "keyword-unevaluated")
        /// A schema has `type` instead of `bsonType`.
        public static let jsonTypeUsed = Self(rawValue: "json-type-used")
        /// A schema has a variant of a type's name, such as `float` for `double`, or a type that App Services does not
        /// have.
        public static let typeSpelling = Self(rawValue: "type-spelling")
        /// A `schema.json` contains only `{}`.
        public static let placeholder = Self(rawValue: "schema-placeholder")
        /// `_id` has no entry in the root's `properties`.
        public static let idMissing = Self(rawValue: "id-missing")
        /// A `default` of null counts as no default.
        public static let defaultNull = Self(rawValue: "default-null")
        /// A schema is not used, because another data source has a schema of the same collection.
        public static let otherService = Self(rawValue: "other-service")
        /// A part of a schema cannot be read; lint continues without it, and every other command stops.
        public static let invalid = Self(rawValue: "schema-invalid")
        /// A link starts from a field that the schema does not have, or its entry is incomplete, malformed or
        /// contradictory.
        public static let linkUnresolved = Self(rawValue: "link-unresolved")
    }

    /// The kind of note.
    public var code: Code
    /// The position in the file to which the note applies.
    public var location: SourceLocation
    /// The remark, as one clause.
    public var message: String
    /// A clause that says what to do about the remark; `nil` if there is no advice.
    public var remedy: String?
    /// The collection to whose schema the note applies; `nil` if it is not known.
    public var namespace: Namespace?
    /// The path of the part to which the note applies, within the collection's schema.
    public var path = SchemaPath()

    /// Creates a note without a remedy.
    public init(_ code: Code = .general, location: SourceLocation, message: String) {
        self.code = code
        self.location = location
        self.message = message
    }

    /// Creates a note about a part of a schema that cannot be read, from the reader's error.
    init(_ error: SchemaError) {
        self.init(.invalid, location: error.location, message: error.message)
        remedy = error.remedy
    }
}

extension SchemaNote: CustomStringConvertible {
    /// The note as text: `file:line:column: message`.
    public var description: String { "\(location): \(message)" }
}
