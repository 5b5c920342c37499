public import BSON

extension CollectionSchema {
    /// Reads the value of `$jsonSchema`, as a server stores it.
    /// - Parameters:
    ///   - jsonSchema: the schema.
    ///   - namespace: the collection that the schema covers.
    ///   - place: the location that errors carry.
    /// - Throws: ``SchemaError`` where mongod refuses the schema.
    public init(
        jsonSchema: BSONDocument, namespace: Namespace, place: SourceLocation = SourceLocation(whole: "$jsonSchema")
    ) throws(SchemaError) {
        let located: LocatedBSON
        do throws(BSONError) {
            located = try LocatedBSON(.object(jsonSchema), at: place)
        } catch {
            throw SchemaError(.wrongValue, at: place, "the schema's bytes are damaged: \(error)")
        }
        try self.init(jsonSchema: located, namespace: namespace)
    }

    /// Reads the value of `$jsonSchema`, as a file holds it.
    /// - Throws: ``SchemaError`` where mongod refuses the schema.
    package init(jsonSchema: LocatedBSON, namespace: Namespace) throws(SchemaError) {
        try self.init(jsonSchema: jsonSchema, namespace: namespace, failures: nil)
    }

    /// Reads the value of `$jsonSchema`, with a choice of what happens at an error.
    /// - Parameter failures: collects the errors of parts that mongod refuses; `nil` to throw the first one.
    init(jsonSchema: LocatedBSON, namespace: Namespace, failures: SchemaFailures?) throws(SchemaError) {
        self.init(namespace: namespace, root: try JSONSchemaReader(failures: failures).root(jsonSchema))
        dialect = .jsonSchema
    }
}
