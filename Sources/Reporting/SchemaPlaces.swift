import BSON
package import ServerSchema

/// The positions in a schema's files at which reports show the findings about documents.
package struct SchemaPlaces: Sendable {
    private let schema: ServerSchema
    let file: String
    private let path: @Sendable (String) -> String

    /// Creates the positions of a schema's parts.
    /// - Parameters:
    ///   - name: the file or folder that has the schema.
    ///   - path: converts the path of a schema file to the path that reports show.
    package init(_ schema: ServerSchema, of name: String, path: @escaping @Sendable (String) -> String = { $0 }) {
        (self.schema, self.path, file) = (schema, path, path(name))
    }

    /// Returns the position of the schema's part at a path.
    ///
    /// If the schema does not describe the path, the result is the position of the nearest part around it. The result
    /// is `nil` for a collection without a schema.
    func place(of path: SchemaPath, in namespace: Namespace) -> SourceLocation? {
        guard let root = schema[namespace]?.root else { return nil }
        let steps = path.steps
        let counts = (0...steps.count).reversed()
        guard var place = counts.lazy.compactMap({ root.node(at: SchemaPath(Array(steps.prefix($0)))) }).first?.location
        else { return nil }
        place.file = self.path(place.file)
        return place
    }
}
