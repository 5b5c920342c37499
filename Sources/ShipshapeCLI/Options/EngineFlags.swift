internal import ArgumentParser
internal import BSON
internal import Checking
internal import ServerSchema

/// The flags for the sync engine that serves the documents, and for the types that its clients expect.
struct EngineFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also report what this sync engine halts at, drops or loses: powersync, objectbox, ditto, rxdb, "
                + "couchbase, any, or device-sync (the default for App Services schemas).",
            valueName: "engine"), completion: .list(Engine.allCases.map(\.rawValue)),
        transform: { try Engine.named($0).get() })
    var engine: Engine?

    @Option(
        help: ArgumentHelp(
            "The columns of the clients' PowerSync schema, as YAML; default: as the schema's types map.",
            discussion: "Each collection is a mapping of fields to text, integer or real.", valueName: "file"),
        completion: .file())
    var columns: String?

    @Option(
        help: ArgumentHelp("The model of the ObjectBox clients: their objectbox-model.json.", valueName: "file"),
        completion: .file())
    var engineModel: String?

    func validate() throws {
        for (flag, value, owner) in [
            ("--columns", columns, Engine.powersync), ("--engine-model", engineModel, Engine.objectbox),
        ] where value != nil && engine != owner {
            throw ValidationError("\(flag) goes with --engine \(owner.rawValue) only")
        }
    }

    /// The files that the flags name.
    var files: [String] { [columns, engineModel].compactMap(\.self) }

    /// Reads the settings of the engine; `nil` if the operator names no engine.
    /// - Throws: ``LocatedError`` for the columns; ``SchemaError`` for the model.
    func settings() throws -> EngineSettings? {
        guard let engine else { return nil }
        var settings = EngineSettings(engine)
        if let columns { settings.tables = try ColumnsFile.read(at: columns) }
        if let engineModel { settings.model = try ObjectBoxModel.read(at: engineModel) }
        return settings
    }

    /// Throws if the operator chose the engine Device Sync, and the schema is not an App Services schema.
    /// - Throws: ``UsageError``.
    func check(for schema: ServerSchema) throws {
        guard engine == .deviceSync, schema.dialect != .appServices else { return }
        throw UsageError(Self.needsSchema)
    }

    /// The error for the engine Device Sync without an App Services schema.
    static let needsSchema = "--engine device-sync needs an App Services schema: its rules are those of such schemas"
}

extension EngineSettings {
    /// Returns notes on the rules that could not be evaluated because the operator did not describe the engine's
    /// clients.
    ///
    /// For PowerSync, also returns a note on each collection that `--columns` describes but the check does not cover.
    func notes(for schema: ServerSchema, hasSchema: Bool) -> [String] {
        switch engine {
        case .powersync:
            let others = tables.filter { table in !schema.collections.contains { table.holds($0.namespace) } }
            return
                (hasSchema || !tables.isEmpty
                ? [] : ["the types of columns were not judged: give a schema, or --columns FILE"])
                + others.map { "--columns: \($0.collection) is not checked" }
        case .objectbox:
            guard let model else {
                return ["conversions to the types of properties were not judged: give --engine-model FILE"]
            }
            return schema.collections.filter { model[$0.namespace.collection] == nil }.map { collection in
                let names = model.entities.map(\.collection)
                let hint = Spelling.hint(for: collection.namespace.collection, among: names).map { " (\($0))" } ?? ""
                return "\(collection.namespace) is no entity of the model, so its conversions were not judged\(hint)"
            }
        case .ditto, .rxdb, .couchbase, .any, .deviceSync: return []
        }
    }
}
