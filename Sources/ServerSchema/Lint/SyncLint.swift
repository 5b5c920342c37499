internal import BSON

/// Lint rules for the sync configuration: `sync-service-unknown`, `development-mode`, `asymmetric-unknown`.
enum SyncLint {
    static func findings(in context: LintContext) -> [LintFinding] {
        guard let sync = context.schema.sync else { return [] }
        var findings: [LintFinding] = []
        let names = context.schema.dataSources.map(\.name)
        if let service = sync.service, !names.isEmpty, !names.contains(service) {
            findings.append(
                LintFinding(
                    .syncServiceUnknown, .error, at: sync.place(of: "service_name"),
                    "the app has no data source \(service)",
                    remedy: Spelling.hint(for: service, among: names)
                        ?? "it has \(names.joined(separator: ", "))"))
        }
        if sync.isInDevelopment {
            findings.append(
                LintFinding(
                    .developmentMode, .warning, at: sync.place(of: "development_mode_enabled"),
                    "clients may change the schemas", remedy: "turn development mode off before you go live"))
        }
        for table in sync.asymmetricTables where !context.schema.collections.contains(where: { $0.isNamed(table) }) {
            findings.append(
                LintFinding(
                    .asymmetricUnknown, .warning, at: sync.place(of: "asymmetric_tables.\(table)"),
                    "no schema has a collection or a type \"\(table)\"",
                    remedy: Spelling.hint(for: table, among: context.schema.collections.map(\.namespace.collection))))
        }
        return findings
    }
}
