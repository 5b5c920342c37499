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

extension CompiledSchema {
    /// What one value must be, flattened: every node stands at one place of the schema's tree.
    struct Node: Sendable, BitwiseCopyable {
        /// The types that the schema names; all of them when it names none.
        var accepts: TypeMask = .all
        /// Those of them that need no further look.
        var plain: TypeMask = []
        var flags: Flags = []
        var place: Place = .field
        /// The named fields, and the required names that the schema does not define.
        var fields = FieldRange()
        /// The required fields among the first 64, a bit each.
        var required: UInt64 = 0
        var requiredCount: Int32 = 0
        /// The node of an array's elements, or the first of a tuple's.
        var items: Int32 = -1
        var tupleCount: Int32 = 0
        /// The node of the values that `properties` does not name.
        var additional: Int32 = -1
    }

    /// Where in its parent a value stands.
    enum Place: UInt8, Sendable, BitwiseCopyable {
        case root, id, field, element, dictionaryValue
    }

    struct Flags: OptionSet, Sendable, BitwiseCopyable {
        let rawValue: UInt32
        /// The value's field is required.
        static var required: Self { Self(rawValue: 1) }
        /// The value's parent is not the document itself.
        static var embedded: Self { Self(rawValue: 2) }
        static var mixed: Self { Self(rawValue: 4) }
        static var uuid: Self { Self(rawValue: 8) }
        static var binary: Self { Self(rawValue: 16) }
        static var set: Self { Self(rawValue: 32) }
        static var dictionary: Self { Self(rawValue: 64) }
        static var geoPoint: Self { Self(rawValue: 128) }
        /// Below a tuple: the folded path stands for more places than the node.
        static var inTuple: Self { Self(rawValue: 256) }
        /// `additionalProperties` is false.
        static var closed: Self { Self(rawValue: 512) }
        /// Which fields are additional cannot be told, because a keyword that decides it is not evaluated.
        static var ignoresExtras: Self { Self(rawValue: 1024) }
        /// The schema names `null` among the types, or no type at all.
        static var nullable: Self { Self(rawValue: 2048) }
        /// The value is the key of a document of another collection.
        static var link: Self { Self(rawValue: 4096) }
        /// The value says to which partition the document belongs.
        static var partition: Self { Self(rawValue: 8192) }
        /// A document without that value is in no partition.
        static var partitionRequired: Self { Self(rawValue: 16384) }
    }

    /// A field of an object.
    struct Field: Sendable, BitwiseCopyable {
        var node: Int32
        /// The position among the object's required fields; -1 when it is optional.
        var requiredIndex: Int32 = -1
        /// The bit of ``Node/required``, when the position is below 64.
        var requiredBit: UInt64 = 0
        /// Whether `properties` names it; `required` alone does not.
        var isDeclared = true
        var whenMissing: WhenMissing = .certain
    }

    /// What it means that a required field is absent.
    enum WhenMissing: Sendable, BitwiseCopyable {
        case certain
        /// Collections: the sync engine leaves out empty ones.
        case possible
        /// A usable default stands in.
        case defaulted
        /// The default is of another type: clients see an error.
        case unusableDefault(type: UInt8)
        /// The document is in no partition, or where that is allowed in the null partition.
        case unpartitioned(isAllowed: Bool)
    }
}

extension CompiledSchema {
    /// A collection that a DBRef may lead to.
    struct Reference: Sendable, BitwiseCopyable {
        var database: FieldKey
        var collection: FieldKey
        /// Whether it stands in the database of the referring document, which a DBRef need not name then.
        var isNear: Bool
        /// The types of its `_id`s.
        var idTypes: TypeMask
        var hasUUIDs: Bool
    }
}

/// Where findings can stand, for who names them in a file.
extension CompiledSchema {
    /// The places that the schema names, as reports spell them.
    package var placeNames: [String] { paths.map(\.description) }

    /// Whether a finding of the rule can stand at a place: one that the schema names, one inside a mixed value, or a field
    /// that it does not name.
    package func canReport(_ rule: RuleCode, at path: String) -> Bool {
        if rule == .extraField || rule == .additionalProperty || rule == .reservedField { return true }
        if paths.contains(where: { $0.description == path }) { return true }
        // Constraints, and MongoDB's own dialect, have paths and no nodes here.
        return zip(paths, nodes).contains { place, node in
            let name = place.description
            return node.flags.contains(.mixed) && (path.hasPrefix(name + "[]") || path.hasPrefix(name + "{}"))
        }
    }
}

extension RuleCode {
    /// Every rule that there is.
    package static var known: [RuleCode] { Rule.allCases.map(\.code) }
}

/// What the walk of an App Services schema borrows, apart from the rest: what is borrowed is copied for each document.
struct WalkPlan: Sendable {
    let nodes: [CompiledSchema.Node]
    var fields: [CompiledSchema.Field]
    /// The names of the fields, one per field, and those of ``references``.
    let table: FieldTable
    /// The collections that a DBRef may lead to.
    let references: [CompiledSchema.Reference]
    /// Whether those are all that there are.
    let knowsReferences: Bool
    let options: CheckOptions
}
