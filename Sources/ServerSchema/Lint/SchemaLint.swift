internal import BSON

/// Checks whether a schema can sync, and in the other dialects whether it has mistakes that the server or Prisma's
/// client would accept or refuse.
///
/// Source of the rules and their levels: `semantics.md` section 4 of the project's reference.
public enum SchemaLint {
    /// Returns the findings, ordered by file, and within a file with the worst first.
    /// - Parameter deployment: the facts about the deployment that is to sync; `nil` leaves out the rules about it.
    public static func findings(in schema: ServerSchema, deployment: DeploymentFacts? = nil) -> [LintFinding] {
        let found =
            switch schema.dialect {
            case .appServices: appServices(schema, deployment)
            case .jsonSchema: schema.collections.flatMap { jsonSchema($0.root, namespace: $0.namespace) }
            case .prisma: schema.prisma.map { PrismaLint.findings(in: $0, of: schema) } ?? []
            }
        let invalid = Set(schema.notes.filter { $0.code == .invalid }.map { Place($0.namespace, $0.path) })
        let findings = found.filter { !isConsequence($0, of: invalid, schema.dialect) }
        return (findings + NoteLint.findings(in: schema)).sorted()
    }

    private struct Place: Hashable {
        let namespace: Namespace?
        let path: SchemaPath

        init(_ namespace: Namespace?, _ path: SchemaPath) { (self.namespace, self.path) = (namespace, path) }
    }

    /// The rules that report something missing.
    ///
    /// These findings are dropped where a part of the schema could not be read, because the missing thing may be in
    /// that part.
    private static let ofAbsence: Set<LintFinding.Code> = [
        .titleMissing, .embeddedTitleMissing, .titleConflictEmbedded, .idMissing, .idForbidden, .typeMissing,
        .requiredUndefined, .arrayItemsMissing, .linkRefUnresolved, .linkType, .linkCrossPartition,
        .partitionKeyUndefined, .partitionKeyType, .queryableType, .queryableNone,
    ]
    /// The rules that report a name missing from `required` in the schema that directly contains the property.
    private static let ofHolder: Set<LintFinding.Code> = [.idNotRequired, .defaultOnOptional]

    /// Whether a finding may be only the consequence of a part of the schema that could not be read.
    private static func isConsequence(_ finding: LintFinding, of invalid: Set<Place>, _ dialect: Dialect) -> Bool {
        // For an unreadable part of a validator only the line is known, not the path.
        let path = dialect == .jsonSchema ? SchemaPath() : finding.path
        if ofAbsence.contains(finding.code) { return invalid.contains(Place(finding.namespace, path)) }
        return ofHolder.contains(finding.code)
            && invalid.contains(Place(finding.namespace, SchemaPath(path.steps.dropLast())))
    }

    private static func appServices(_ schema: ServerSchema, _ deployment: DeploymentFacts?) -> [LintFinding] {
        let context = LintContext(schema)
        var findings = TitleLint.findings(in: context)
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
