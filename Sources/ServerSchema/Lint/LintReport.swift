public import BSON

/// The findings of lint in the schemas of one file, folder or deployment.
public struct LintReport: Sendable {
    /// The source of the schemas, as the user named it.
    public var source: String
    /// The collections that the report covers.
    public var collections: [Namespace]
    /// The findings, ordered by file; within a file, the most severe come first.
    public var findings: [LintFinding]

    /// Creates a report about the schemas of a source.
    /// - Parameter only: the only collection whose findings are included; `nil` to include all findings.
    public init(source: String, schema: ServerSchema, findings: [LintFinding], only: Namespace? = nil) {
        self.source = source
        collections = schema.collections.map(\.namespace).filter { only == nil || $0 == only }
        self.findings = findings.filter { only == nil || $0.namespace == only }
    }

    /// Returns the number of findings of a level.
    public func count(of level: LintFinding.Level) -> Int { findings.count { $0.level == level } }
}
