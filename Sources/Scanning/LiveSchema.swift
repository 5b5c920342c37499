package import BSON
package import Mongo
package import ServerSchema

/// Reads the live schemas: the validators that the collections of the deployment have at present.
package enum LiveSchema {
    /// The word that operators write in place of a schema's path.
    package static let name = "live"

    /// Reads the validators of one collection, or of all collections in all databases.
    /// - Parameter namespace: The only collection to read; `nil` for all.
    /// - Throws: ``MongoError``; ``SchemaError`` if no validator has a `$jsonSchema`, or if this version of the program
    ///   cannot read a `$jsonSchema`.
    package static func read(
        from client: borrowing Client, namespace: Namespace? = nil
    ) throws -> ServerSchema {
        var schema = ServerSchema(dialect: .jsonSchema, collections: [])
        for database in try namespace.map({ [$0.database] }) ?? databases(of: client) {
            let filter: BSONDocument = namespace.map { ["name": .string($0.collection)] } ?? [:]
            for info in try client.listCollections(of: database, options: ["filter": .object(filter)]) {
                try add(info, of: database, to: &schema)
            }
        }
        guard !schema.collections.isEmpty else {
            throw SchemaError(
                .schemaMissing, at: SourceLocation(whole: name),
                namespace.map { "\($0) has no validator with a $jsonSchema" }
                    ?? "no collection that the user can see has a validator with a $jsonSchema",
                remedy: "give a file or a folder of schemas")
        }
        schema.collections.sort { $0.namespace < $1.namespace }
        return schema
    }

    /// Returns the databases that are not the server's own.
    private static func databases(of client: borrowing Client) throws -> [String] {
        try client.databaseNames().filter { !["admin", "config", "local"].contains($0) }
    }

    private static func add(_ info: CollectionInfo, of database: String, to schema: inout ServerSchema) throws {
        // Skip the server's own collections: the buckets of a time series have a validator that no user has made.
        guard !info.name.hasPrefix("system.") else { return }
        guard let validator = info.validator, let root = validator["$jsonSchema"]?.document else { return }
        let namespace = Namespace(database: database, collection: info.name)
        let place = SourceLocation(whole: "validator of \(namespace)")
        schema.collections.append(try CollectionSchema(jsonSchema: root, namespace: namespace, place: place))
        // The state database stores the texts of a job's schema files. A validator has no file, so its own text takes
        // the place of a file's text.
        let text = (try? validator.extendedJSON()) ?? ""
        schema.sources.append(SchemaSource(path: "\(namespace)", text: text))
        for condition in (try? validator.elements()) ?? [] where condition.name != "$jsonSchema" {
            schema.notes.append(
                SchemaNote(
                    .unevaluatedKeyword, location: place, message: "the condition \"\(condition.name)\" is not judged"))
        }
        // The level "constraint", which MongoDB has from 9.0 on, needs no note, because the server then refuses even
        // more writes than at the level "strict".
        if let level = info.options["validationLevel"]?.text, ["moderate", "off"].contains(level) {
            schema.notes.append(
                SchemaNote(
                    location: place,
                    message: "validationLevel is \"\(level)\": documents that fail already can still be updated"))
        }
    }
}
