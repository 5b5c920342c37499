internal import BSON

/// The checks of lint.
///
/// In an App Services schema, lint finds problems that prevent syncing or are likely to cause trouble. In the other
/// dialects, lint finds mistakes that the server accepts, or that Prisma refuses. Source of the rules and their levels:
/// `semantics.md` section 4 of the project's reference.
public enum SchemaLint {
    /// Returns the findings, ordered by file; within a file, the most severe come first.
    /// - Parameter deployment: the facts about the deployment that is to sync; `nil` to skip the rules that need them.
    public static func findings(in schema: ServerSchema, deployment: DeploymentFacts? = nil) -> [LintFinding] {
        let found =
            switch schema.dialect {
            case .appServices: appServices(schema, deployment)
            case .jsonSchema: schema.collections.flatMap { jsonSchema($0.root, namespace: $0.namespace) }
            case .prisma: schema.prisma.map { PrismaLint.findings(in: $0, of: schema) } ?? []
            }
        let annotations = schema.collections.flatMap { LintPlace.all(of: $0).flatMap(DeprecationLint.findings) }
        let invalid = Set(schema.notes.filter { $0.code == .invalid }.map { Place($0.namespace, $0.path) })
        let findings = found.filter { !isConsequence($0, of: invalid, schema.dialect) }
        return (findings + annotations + NoteLint.findings(in: schema)).sorted()
    }

    private struct Place: Hashable {
        let namespace: Namespace?
        let path: SchemaPath

        init(_ namespace: Namespace?, _ path: SchemaPath) { (self.namespace, self.path) = (namespace, path) }
    }

    /// The rules that report something missing, or that depend on a schema being complete.
    ///
    /// A finding of these rules is dropped if the part of the schema at the finding's path could not be read, because
    /// the missing thing may be in that part.
    private static let ofAbsence: Set<LintFinding.Code> = [
        .titleMissing, .embeddedTitleMissing, .titleConflictEmbedded, .idMissing, .idForbidden, .typeMissing,
        .requiredUndefined, .arrayItemsMissing, .linkRefUnresolved, .linkType, .linkCrossPartition,
        .partitionKeyUndefined, .partitionKeyType, .queryableType, .queryableNone,
    ]
    /// The rules for a property that the surrounding schema does not name in `required`.
    private static let ofHolder: Set<LintFinding.Code> = [.idNotRequired, .defaultOnOptional]

    /// Whether a finding may be wrong because a part of the schema could not be read.
    private static func isConsequence(_ finding: LintFinding, of invalid: Set<Place>, _ dialect: Dialect) -> Bool {
        // A note on an unreadable part of a `$jsonSchema` has an empty path, because the position of the part in the
        // schema is not known. One such note therefore makes all findings of ``ofAbsence`` in the collection uncertain.
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
