internal import BSON

/// Lint rules for data sources and names of collections: `datasource-type`, `datasource-name`, `namespace-space`,
/// `service-not-synced`, `schema-missing`.
enum DataSourceLint {
    static func findings(in context: LintContext) -> [LintFinding] {
        sources(context) + names(context) + scope(context)
    }

    private static func sources(_ context: LintContext) -> [LintFinding] {
        var findings: [LintFinding] = []
        for source in context.schema.dataSources where source.type.map(isDatabase) ?? true {
            if source.name != source.folder {
                findings.append(
                    LintFinding(
                        .datasourceName, .warning, at: source.location,
                        "the folder \(source.folder) holds the data source \(source.name), which links have to name",
                        remedy: "rename the folder"))
            }
            let hasSchemas = context.synced.contains { $0.service == source.name }
            guard source.isFederated, hasSchemas || context.schema.sync?.service == source.name else { continue }
            findings.append(
                LintFinding(
                    .datasourceType, .error, at: source.location,
                    "the data source \(source.name) is a federated database, which cannot sync",
                    remedy: "sync a cluster"))
        }
        return findings
    }

    /// Whether a data source of this type is a database.
    ///
    /// Legacy exports keep services of other kinds in the same folder as data sources.
    private static func isDatabase(_ type: String) -> Bool {
        ["mongodb-atlas", "mongodb", "datalake"].contains(type)
    }

    private static func names(_ context: LintContext) -> [LintFinding] {
        context.synced.filter { $0.namespace.description.contains(" ") }.map { collection in
            LintFinding(
                .namespaceSpace, .error, namespace: collection.namespace, at: collection.root.location,
                "the name of a synced database or collection cannot have a space", remedy: "rename it")
        }
    }

    private static func scope(_ context: LintContext) -> [LintFinding] {
        guard let sync = context.schema.sync else { return [] }
        let others = context.schema.collections.filter { !sync.covers($0) }.map { collection in
            LintFinding(
                .serviceNotSynced, .info, namespace: collection.namespace, at: collection.root.location,
                "the data source \(collection.service ?? "") does not sync, so this schema was not checked")
        }
        guard context.synced.isEmpty else { return others }
        return others + [
            LintFinding(
                .schemaMissing, .error, at: sync.place(of: "service_name"),
                "no collection of \(sync.service.map { "the data source \($0)" } ?? "the app") has a schema, and Sync "
                    + "needs one"
            )
        ]
    }
}
