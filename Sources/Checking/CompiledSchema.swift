public import BSON
public import ServerSchema

/// The schema of one collection in the form that documents are checked against: flat arrays, made once.
///
/// Checking a document that fits allocates nothing, with two exceptions: a set of more than 1,024 elements, and by a
/// validator an object for which it names more than 256 fields.
public struct CompiledSchema: Sendable {
    /// The collection that it covers.
    public let namespace: Namespace
    /// What the check assumes about the app.
    public let options: CheckOptions
    /// How much the collection has to do with sync.
    public let scope: SyncScope
    /// The keywords that the schema uses and that no rule judges, with the places of the values that they restrict.
    public let unevaluatedKeywords: [UnevaluatedKeyword]

    /// The plan of a schema of the `jsonschema` dialect, which stands for all of the rest.
    let jsonSchema: JSONSchemaPlan?
    /// The plan of what an App Services schema demands beside types and fields; `nil` when that is nothing.
    let constraints: JSONSchemaPlan?
    private(set) var walkPlan: WalkPlan
    /// Which of the plans there are: cheaper to ask than the plans themselves.
    let hasJSONSchema: Bool
    let hasConstraints: Bool
    let links: [Link]

    /// Whether it is a validator's, which the server itself holds documents to: sync knows nothing of it.
    public var isOfValidator: Bool { hasJSONSchema }

    var nodes: [Node] { walkPlan.nodes }
    var fields: [Field] { walkPlan.fields }
    var table: FieldTable { walkPlan.table }
    var references: [Reference] { walkPlan.references }

    /// Whether what fails in the collection counts in the verdict: its documents are of no account to sync otherwise.
    public var isCounted: Bool { scope == .synced || scope == .asymmetric && options.countsAsymmetric }
    /// One per node, those of the constraints included: its place.
    let paths: [SchemaPath]
    /// One per node: what the schema wants there, in words.
    let expectations: [String]

    /// A keyword that no rule judges.
    public struct UnevaluatedKeyword: Hashable, Sendable {
        /// Of the value that the keyword restricts.
        public let path: SchemaPath
        /// The keyword.
        public let keyword: String
        /// Where it stands in the schema's file.
        public let location: SourceLocation

        /// The schema's file.
        public var file: String { location.file }
        /// The line in it.
        public var line: Int { location.line }

        /// Joins the parts.
        public init(path: SchemaPath, keyword: String, location: SourceLocation) {
            self.path = path
            self.keyword = keyword
            self.location = location
        }
    }

    /// Compiles a schema, for the dialect that it was read in.
    /// - Parameter app: The app that the collection belongs to, which says how its documents are partitioned and what its
    ///   links lead to; without it those are not judged.
    public init(_ schema: CollectionSchema, of app: ServerSchema? = nil, options: CheckOptions = CheckOptions()) {
        let plan = schema.dialect == .jsonSchema ? JSONSchemaCompiler(root: schema.root).plan : nil
        jsonSchema = plan
        hasJSONSchema = plan != nil
        constraints = Self.constraints(of: schema)
        hasConstraints = constraints != nil
        let surroundings = Surroundings(of: schema, in: app)
        var compiler = SchemaCompiler(surroundings)
        if plan == nil { compiler.compile(root: schema.root) }
        compiler.compileLinks(of: schema)
        compiler.compileReferences(from: schema.namespace)
        namespace = schema.namespace
        self.options = options
        scope = app?.scope(of: schema) ?? .synced
        unevaluatedKeywords = compiler.unevaluated
        walkPlan = WalkPlan(
            nodes: compiler.nodes, fields: compiler.fields, table: compiler.table, references: compiler.references,
            knowsReferences: surroundings.synced != nil, options: options)
        paths = plan?.origins.map(\.path) ?? compiler.paths + (constraints?.origins.map(\.path) ?? [])
        expectations = compiler.expectations
        links = compiler.links
        settleDefaults(compiler.defaults)
    }

    /// Decides which of the schema's defaults are of the right type, by checking them like a document's values.
    private mutating func settleDefaults(_ defaults: [(field: Int, value: BSONValue)]) {
        for (field, value) in defaults where value != .null {
            let isUsable = fits(value, node: Int(fields[field].node))
            walkPlan.fields[field].whenMissing = isUsable ? .defaulted : .unusableDefault(type: value.type.rawValue)
        }
    }
}
