public import BSON

/// What lint found in the schemas of one file or folder.
public struct LintReport: Sendable {
    /// What was read, as the user named it.
    public var source: String
    /// The collections whose schemas were read.
    public var collections: [Namespace]
    /// What was found, by file and the worst first.
    public var findings: [LintFinding]

    /// Joins the parts.
    /// - Parameter only: the collection whose findings count; `nil` for all, and those about the app.
    public init(source: String, schema: ServerSchema, findings: [LintFinding], only: Namespace? = nil) {
        self.source = source
        collections = schema.collections.map(\.namespace).filter { only == nil || $0 == only }
        self.findings = findings.filter { only == nil || $0.namespace == only }
    }

    /// How many findings there are of a level.
    public func count(of level: LintFinding.Level) -> Int { findings.count { $0.level == level } }
}
