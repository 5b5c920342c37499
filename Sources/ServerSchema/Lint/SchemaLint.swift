internal import BSON

/// Finds what a schema itself must meet to be syncable, or in MongoDB's dialect to make sense.
///
/// Source of the rules and their levels: `semantics.md` section 4 of the project's reference.
public enum SchemaLint {
    /// What is found, by file and the worst first.
    /// - Parameter deployment: what is known of the deployment that is to sync; `nil` leaves its rules out.
    public static func findings(in schema: ServerSchema, deployment: DeploymentFacts? = nil) -> [LintFinding] {
        let findings =
            switch schema.dialect {
            case .appServices: appServices(schema, deployment)
            case .jsonSchema: schema.collections.flatMap { jsonSchema($0.root, namespace: $0.namespace) }
            }
        return findings.sorted()
    }

    private static func appServices(_ schema: ServerSchema, _ deployment: DeploymentFacts?) -> [LintFinding] {
        let context = LintContext(schema)
        var findings = NoteLint.findings(in: schema)
        findings += TitleLint.findings(in: context)
        findings += LinkLint.findings(in: context)
        findings += DataSourceLint.findings(in: context)
        findings += SyncLint.findings(in: context)
        findings += QueryableLint.findings(in: context)
        findings += IndexedQueryableLint.findings(in: context)
        findings += PartitionLint.findings(in: context)
        findings += RoleLint.findings(in: context)
        if let deployment { findings += DeploymentLint.findings(in: context, deployment) }
        for place in context.places {
            findings += IDLint.findings(at: place) + NameLint.findings(at: place) + TypeLint.findings(at: place)
            findings += CollectionLint.findings(at: place, in: context) + EmbeddedLint.findings(at: place)
            findings += RequiredLint.findings(at: place) + DefaultLint.findings(at: place)
            findings += KeywordLint.findings(at: place)
        }
        return findings
    }
}
