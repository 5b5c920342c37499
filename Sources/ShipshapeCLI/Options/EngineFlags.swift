internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Files
internal import ServerSchema

/// The option for the sync engine that serves the documents.
struct EngineFlags: ParsableArguments {
    @Option(
        name: .customLong("engine"),
        help: ArgumentHelp(
            "Also report what this sync engine halts at, drops or loses: powersync, objectbox, ditto, rxdb, "
                + "couchbase, any, or device-sync (the default for App Services schemas); powersync@1.26.0 states the "
                + "version that runs.",
            valueName: "engine"), completion: .list(Engine.allCases.map(\.rawValue)),
        transform: { try EngineSettings(parsing: $0) })
    var named: EngineSettings?

    /// The engine: that of `--engine`, else the setting; `nil` if there is none.
    var engine: Engine? { stated?.engine }

    private var stated: EngineSettings? { named ?? Settings.current[Known.engine] }

    /// The files with facts about the engine's clients, which the settings name.
    var files: [String] { [columns, model].compactMap(\.self) }

    private var columns: String? { engine == .powersync ? Settings.current[Known.columns] : nil }
    private var model: String? { engine == .objectbox ? Settings.current[Known.engineModel] : nil }

    /// Reads the facts about the engine's clients; `nil` if the operator names no engine.
    /// - Throws: ``LocatedError`` for the columns; ``SchemaError`` for the model.
    func settings() throws -> EngineSettings? {
        var settings = stated
        if let columns { settings?.columns = try ColumnsFile.read(at: columns) }
        if let model { settings?.model = try ObjectBoxModel.read(at: model) }
        return settings
    }

    /// Throws ``UsageError`` if the operator chose Device Sync, and the schema is not an App Services schema.
    func check(for schema: ServerSchema) throws {
        guard engine == .deviceSync, schema.dialect != .appServices else { return }
        throw UsageError(Self.needsSchema)
    }

    static let needsSchema = "--engine device-sync needs an App Services schema: its rules are those of such schemas"
}

extension EngineSettings {
    /// Returns notes on the rules that could not be evaluated because the operator did not describe the engine's
    /// clients, and on collections that the file of columns describes but the check does not cover.
    func notes(for schema: ServerSchema, hasSchema: Bool) -> [String] {
        [versionNote].compactMap(\.self) + clientNotes(for: schema, hasSchema: hasSchema)
    }

    private func clientNotes(for schema: ServerSchema, hasSchema: Bool) -> [String] {
        switch engine {
        case .powersync where !hasSchema && columns.isEmpty:
            return ["the types of columns were not judged: give a schema, or name a file in the setting columns"]
        case .powersync:
            let checked = schema.collections.flatMap { ["\($0.namespace)", $0.namespace.collection] }
            return Set(columns.keys).subtracting(checked).sorted().map { "columns: \($0) is not checked" }
        case .objectbox:
            guard let model else {
                return [
                    "conversions to the types of properties were not judged: name the model in the setting engine-model"
                ]
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
