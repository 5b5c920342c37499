internal import BSON

/// Reads the validators in a `contract.json`, or those that a migration's `ops.json` sets.
struct ContractFile {
    private(set) var notes: [SchemaNote] = []

    /// Whether the file is a list of a migration's operations.
    static func isMigration(_ json: LocatedJSON) -> Bool {
        json.elements?.contains { $0["operationClass"] != nil } ?? false
    }

    /// Returns the schemas in the file's validators, by collection.
    /// - Throws: ``SchemaError`` if the file has none, is for another database, or is not complete.
    mutating func roots(_ json: LocatedJSON) throws(SchemaError) -> [String: SchemaNode] {
        try Self.isMigration(json) ? migration(json) : contract(json)
    }

    private mutating func contract(_ json: LocatedJSON) throws(SchemaError) -> [String: SchemaNode] {
        guard json["targetFamily"]?.text == "mongo" else {
            throw SchemaError(
                .unsupported, at: json["targetFamily"]?.location ?? json.location,
                "this contract is for \(json["target"]?.text ?? "another database"), and not for MongoDB")
        }
        if let version = json["schemaVersion"], version.text != "1" {
            note(
                version.location,
                "the contract has the format \(version.text ?? "of another version"), and this program knows 1 "
                    + "(Prisma \(ContractResolver.release)): only the validators in it are judged, as they are")
        }
        guard let namespaces = json["storage"]?["namespaces"]?.members else {
            throw Self.incomplete(
                .schemaMissing, json["storage"]?.location ?? json.location,
                "this is a part of a contract: it has no storage.namespaces with validators")
        }
        let models = json["domain"]?["namespaces"]?.members?.flatMap { $0.value["models"]?.members ?? [] } ?? []
        for variant in models.flatMap({ $0.value["variants"]?.members ?? [] }) {
            guard !models.contains(where: { $0.name == variant.name }) else { continue }
            throw Self.incomplete(
                .conflict, variant.nameLocation,
                "the value \((variant.value["value"]?.text ?? "").quotedAsJSON) selects the model "
                    + "\"\(variant.name)\", which the contract does not have")
        }
        var roots: [String: SchemaNode] = [:]
        for collection in namespaces.flatMap({ $0.value["entries"]?["collection"]?.members ?? [] }) {
            guard let validator = collection.value["validator"] else {
                note(
                    collection.nameLocation, "the collection \"\(collection.name)\" has no validator: it is not judged")
                continue
            }
            roots[collection.name] = try root(validator["jsonSchema"] ?? validator)
            let model = models.first {
                $0.value["storage"]?["collection"]?.text == collection.name && $0.value["base"] == nil
            }
            roots[collection.name]?.title = model?.name
        }
        guard roots.isEmpty else { return roots }
        throw Self.incomplete(.schemaMissing, json.location, "the contract has no validator")
    }

    private static func incomplete(
        _ code: SchemaError.Code, _ location: SourceLocation, _ message: String
    ) -> SchemaError {
        SchemaError(code, at: location, message, remedy: "write it again with prisma contract emit")
    }

    private mutating func migration(_ json: LocatedJSON) throws(SchemaError) -> [String: SchemaNode] {
        var roots: [String: SchemaNode] = [:]
        for step in (json.elements ?? []).flatMap({ $0["execute"]?.elements ?? [] }) {
            guard let command = step["command"], let collection = command["collection"]?.text else { continue }
            if command["kind"]?.text == "dropCollection" { roots[collection] = nil }
            guard let validator = command["validator"] else { continue }
            // The planner removes a validator by setting an empty one.
            roots[collection] = try validator["$jsonSchema"].map(root)
        }
        guard !roots.isEmpty else {
            throw SchemaError(
                .schemaMissing, at: json.location, "this migration sets no validator",
                remedy: "give contract.json or contract.prisma, which have the validators of all collections")
        }
        let names = roots.keys.sorted().joined(separator: ", ")
        note(json.location, "only the collections that this migration changes are judged: \(names)")
        return roots
    }

    private func root(_ schema: LocatedJSON) throws(SchemaError) -> SchemaNode {
        try JSONSchemaReader().root(try LocatedBSON(schema))
    }

    private mutating func note(_ location: SourceLocation, _ message: String) {
        notes.append(SchemaNote(location: location, message: message))
    }
}
