public import BSON

extension CollectionSchema {
    /// Reads the value of `$jsonSchema` from a server.
    /// - Parameters:
    ///   - jsonSchema: the schema.
    ///   - namespace: the collection that the schema covers.
    ///   - place: the location that errors state.
    /// - Throws: ``SchemaError`` if mongod would refuse the schema, or if the schema's bytes are damaged.
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

    /// Reads the value of `$jsonSchema` from a file.
    /// - Throws: ``SchemaError`` if mongod would refuse the schema.
    package init(jsonSchema: LocatedBSON, namespace: Namespace) throws(SchemaError) {
        try self.init(jsonSchema: jsonSchema, namespace: namespace, failures: nil)
    }

    /// Reads the value of `$jsonSchema`, and either throws the first error or collects all errors.
    /// - Parameter failures: collects the errors of parts that mongod refuses; `nil` to throw the first one.
    init(jsonSchema: LocatedBSON, namespace: Namespace, failures: SchemaFailures?) throws(SchemaError) {
        self.init(namespace: namespace, root: try JSONSchemaReader(failures: failures).root(jsonSchema))
        dialect = .jsonSchema
    }
}
