internal import BSON
internal import Checking
internal import Files
internal import Mongo
internal import ServerSchema

/// The command `shipshape plan --engine ENGINE`, which needs no schema.
extension PlanCommand {
    /// Plans the repair of the documents at which a sync engine halts, or of which it loses something.
    func planRepairs(for settings: EngineSettings) async throws -> CommandOutcome {
        let found: [Namespace]
        if let asked {
            found = [asked]
        } else if let database = Settings.current.database {
            found = try await CheckSubject.collections(of: database, on: try connection.pool())
        } else {
            throw UsageError(
                "without a schema, name what to plan for: --collection DATABASE.COLLECTION, or a database in the "
                    + "connection string or the setting database")
        }
        let schema = ServerSchema(
            dialect: .jsonSchema, collections: found.sorted().map { CollectionSchema(withoutSchema: $0) })
        let argument = SchemaArgument(argument: "--engine \(settings.engine.rawValue)")
        return try await planRepairs(NamedSchema(argument: argument, schema: schema), settings)
    }
}
