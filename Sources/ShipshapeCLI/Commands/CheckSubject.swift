internal import BSON
internal import Check
internal import Checking
internal import Files
internal import Mongo
internal import ServerSchema

/// The collections that `check` or `plan` reads, and the schemas that they are checked against.
///
/// If the operator names no schema, the operator names an engine, and the collections, a database or an ObjectBox
/// model.
struct CheckSubject {
    let schema: ServerSchema
    let hasSchema: Bool
    /// The engine, with the known facts about its clients; `nil` if the operator named no engine.
    let engine: EngineSettings?

    /// Reads the schema and the engine's settings; without a schema, finds the collections to check.
    /// - Parameters:
    ///   - argument: the schema or the ObjectBox model that the operator names.
    ///   - named: the only collections to check; empty for all.
    ///   - source: the dump that is read in place of a deployment.
    /// - Throws: ``UsageError``; errors of reading and of connecting.
    init(
        _ argument: SchemaArgument?, only named: [Namespace], _ flags: EngineFlags, _ connection: ConnectionFlags,
        source: String? = nil
    ) async throws {
        var engine = try flags.settings()
        let isModel = argument.map { engine?.engine == .objectbox && ObjectBoxModel.isModel(at: $0.name) } ?? false
        if let argument, !isModel {
            var schema = try await Self.read(argument, only: named, connection)
            Settings.current.file.unique.add(to: &schema)
            try flags.check(for: schema)
            (self.schema, hasSchema, self.engine) = (schema, true, engine)
            return
        }
        if let argument {
            guard engine?.model == nil else {
                throw UsageError("SCHEMA and the setting engine-model are both models: give one of them")
            }
            engine?.model = try ObjectBoxModel.read(at: argument.name)
        }
        var namespaces = named
        if named.isEmpty, let database = Settings.current.database {
            if let model = engine?.model {
                namespaces = model.collections(of: database)
            } else if source == nil {
                namespaces = try await Self.collections(of: database, on: try connection.pool())
            } else {
                throw UsageError(
                    "a database needs a live deployment: with --source, name each collection by --collection")
            }
        }
        guard !namespaces.isEmpty else {
            throw UsageError(
                engine?.model == nil
                    ? "without a schema, name what to check: --collection DATABASE.COLLECTION (repeatable), or a "
                        + "database in the connection string or the setting database"
                    : "the model does not name the database of its collections: name it in the connection string, "
                        + "or set database"
            )
        }
        schema = ServerSchema(
            dialect: .jsonSchema, collections: Set(namespaces).sorted().map { CollectionSchema(withoutSchema: $0) })
        (hasSchema, self.engine) = (false, engine)
    }

    /// Reads a schema; if the operator names collections, only their schemas.
    private static func read(
        _ argument: SchemaArgument, only named: [Namespace], _ connection: ConnectionFlags
    ) async throws -> ServerSchema {
        let only = named.count == 1 ? named[0] : nil
        var schema = try await argument.read(namespace: only, takesPrisma: true, connection: connection)
        guard named.count > 1 else { return schema }
        for namespace in named where schema[namespace] == nil {
            let known = schema.collections.map { "\($0.namespace)" }
            let hint = Spelling.hint(for: "\(namespace)", among: known).map { " (\($0))" } ?? ""
            throw UsageError("--collection \(namespace): \(argument.name) has no schema of it\(hint)")
        }
        schema.narrow(to: named)
        return schema
    }

    /// Returns the collections of a database that the server lists for the user, apart from views, time series and
    /// system collections.
    private static func collections(of database: String, on pool: ClientPool) async throws -> [Namespace] {
        let infos = try await pool.withClient { client throws(MongoError) in
            try client.listCollections(of: database, options: ["nameOnly": true, "authorizedCollections": true])
        }
        let names = infos.filter { $0.kind == .collection && !$0.name.hasPrefix("system.") }.map(\.name)
        guard !names.isEmpty else {
            throw InputError("the database \(database) has no collection that the user can read: check its name")
        }
        return names.map { Namespace(database: database, collection: $0) }
    }
}

extension CollectionSchema {
    init(withoutSchema namespace: Namespace) {
        self.init(namespace: namespace, root: SchemaNode(location: SourceLocation(whole: "\(namespace)")))
        dialect = .jsonSchema
    }
}

extension ObjectBoxModel {
    /// Returns the collections of a database that hold the model's synced entities.
    func collections(of database: String) -> [Namespace] {
        synced.map { Namespace(database: database, collection: $0.collection) }
    }
}
