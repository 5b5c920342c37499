internal import BSON

extension SchemaReading {
    /// Whether a file of an app was found.
    var isApp: Bool { schema.appName != nil || !files.sources.isEmpty }

    /// Why there is nothing to work with.
    func nothingFound() -> SchemaError {
        let place = files.location()
        if let wanted, let location = seen[wanted] {
            return SchemaError(
                .schemaMissing, at: location, "the schema of \(wanted) is a placeholder", remedy: "write its schema")
        }
        if let wanted, !seen.isEmpty {
            let hint = Spelling.hint(for: wanted.description, among: seen.keys.map(\.description).sorted())
            return SchemaError(
                .schemaMissing, at: place, "there is no schema of \(wanted) here",
                remedy: hint ?? "there is one of \(seen.keys.sorted().map(\.description).joined(separator: ", "))")
        }
        if let first = seen.values.map(\.description).sorted().first {
            return SchemaError(
                .schemaMissing, at: place, "every schema here is a placeholder", remedy: "the first is \(first)")
        }
        if isApp {
            return SchemaError(
                .schemaMissing, at: place, "the app has no schema",
                remedy:
                    "a schema stands in data_sources/<service>/<database>/<collection>/schema.json, in legacy exports "
                    + "in services/<service>/rules")
        }
        return SchemaError(
            .schemaMissing, at: place, "the folder holds no schema",
            remedy: "give an app folder with root_config.json, <database>.<collection>.json files, or one schema.json "
                + "with --collection")
    }
}
