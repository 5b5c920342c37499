package import BSON
package import ServerSchema

/// A MongoDB validator that was made from another kind of schema, for review.
package struct ImportedSchema: Sendable {
    /// The name of the schema in its file; `nil` if it has none.
    package let name: String?
    /// The content of the validator's file: `{"$jsonSchema": …}`.
    package let validator: BSONDocument
    /// The remarks on the translation, in the order in which they were made.
    package let notes: [ImportNote]

    /// Translates one schema of a file: a JSON Schema, or one of an OpenAPI document.
    /// - Parameters:
    ///   - path: the file; a name that ends in `.yml` or `.yaml` means YAML.
    ///   - name: the schema's name; `nil` for the whole file or, if the file is only a container of schemas, for the
    ///     only schema in it.
    ///   - keepsStrings: whether strings stay strings, whatever their format.
    /// - Throws: ``SchemaError`` if the file cannot be read; if it has no schema with the name, or has several and no
    ///   name is given; if the schema is not valid; or if MongoDB would refuse the validator.
    package init(fileAt path: String, schema name: String? = nil, keepsStrings: Bool = false) throws(SchemaError) {
        try self.init(text: try SourceFile.text(of: path), named: path, schema: name, keepsStrings: keepsStrings)
    }

    /// Translates one schema of a text.
    /// - Parameter file: the path that errors and notes name.
    /// - Throws: ``SchemaError`` if the text has no schema with the given name, or has several and no name is given; if
    ///   the schema is not valid; or if MongoDB would refuse the validator.
    package init(
        text: String, named file: String, schema name: String? = nil, keepsStrings: Bool = false
    ) throws(SchemaError) {
        let document = try SourceDocument(text: text, named: file)
        let chosen = try document.choose(name)
        var translator = Translator(document, keepsStrings: keepsStrings)
        let schema = try translator.root(chosen.schema)
        try self.init(name: chosen.name, schema: schema.document, notes: translator.notes, at: chosen.schema.location)
    }

    /// Creates the result, after a check that the validator can be read and is not too deep or too large for MongoDB.
    init(
        name: String?, schema: BSONDocument, notes: [ImportNote], at location: SourceLocation
    ) throws(SchemaError) {
        do throws(BSONError) { try schema.view.validate(levels: Self.deepest) } catch { throw .tooDeep(at: location) }
        guard schema.bytes.count <= Self.largest else { throw .tooLarge(at: location) }
        _ = try CollectionSchema(
            jsonSchema: schema, namespace: Namespace(database: "import", collection: "import"), place: location)
        self.name = name
        self.notes = notes
        validator = ["$jsonSchema": .object(schema)]
    }

    /// The largest number of nested levels in a validator: MongoDB's limit for a command, less a reserve.
    private static let deepest = 180
    /// The largest size of a validator in bytes: MongoDB's limit for a document, less a reserve for the command around
    /// it.
    static let largest = 15 << 20
}

extension SchemaError {
    /// Returns the error for a schema whose validator would be larger than MongoDB's limit for a document.
    static func tooLarge(at location: SourceLocation) -> SchemaError {
        SchemaError(
            .tooLarge, at: location, "with its references written out, the schema is too large for MongoDB",
            remedy: "import a smaller schema of the file")
    }

    /// Returns the error for a schema whose validator MongoDB would refuse because of its nesting.
    static func tooDeep(at location: SourceLocation) -> SchemaError {
        SchemaError(
            .tooDeep, at: location, "the validator would be nested deeper than MongoDB accepts",
            remedy: "import a flatter schema")
    }
}
