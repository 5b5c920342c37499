public import BSON
public import ServerSchema

/// The schema of one collection, compiled once into flat arrays against which documents are checked.
///
/// Checking a document that fits usually allocates nothing. Exceptions are, for example, a set of more than 1,024
/// elements, and an object for which a validator names more than 256 fields.
public struct CompiledSchema: Sendable {
    /// The collection that the schema covers.
    public let namespace: Namespace
    /// The dialect of the schema.
    public let dialect: Dialect
    /// The name by which programs call the collection in a Prisma client, such as `user`; `nil` in other dialects.
    public let clientName: String?
    /// The assumptions of the check about the app.
    public let options: CheckOptions
    /// The collection's role in sync.
    public let scope: SyncScope
    /// The keywords of the schema that no rule judges, each with the path of the value that it restricts.
    public let unevaluatedKeywords: [UnevaluatedKeyword]

    /// The plan that checks documents if the schema is of the `jsonschema` dialect; `nil` for other dialects.
    let jsonSchema: JSONSchemaPlan?
    /// The plan that checks the constraints of an App Services schema, such as `minimum`; `nil` if there are none.
    let constraints: JSONSchemaPlan?
    private(set) var walkPlan: WalkPlan
    /// Whether ``jsonSchema`` is not `nil`; stored, because a Boolean is faster to test than the plan itself.
    let hasJSONSchema: Bool
    let hasConstraints: Bool
    /// The only element is ``engine``: an array, so that the walker borrows it in place of a copy for each document.
    let engines: [EnginePlan]
    /// The plan that checks the rules of a sync engine; `nil` if the options name no engine with rules of its own.
    var engine: EnginePlan? { engines.first }
    var hasEngine: Bool { !engines.isEmpty }
    let links: [Link]
    /// The unique indexes that the collection shall get; none for an App Services schema.
    package private(set) var uniqueKeys: [UniqueKey]
    /// Whether the collection is known to compare texts by their bytes, because it has no collation.
    private(set) var comparesBytes = false
    /// The texts that findings show for each node: the path, and what the schema expects there.
    let texts: NodeTexts

    /// Whether the schema is a validator, which the server applies to writes and the sync engine ignores.
    public var isOfValidator: Bool { hasJSONSchema }

    var nodes: [Node] { walkPlan.nodes }
    var fields: [Field] { walkPlan.fields }
    var table: FieldTable { walkPlan.table }
    var references: [Reference] { walkPlan.references }

    /// Whether failing documents of the collection count in the verdict.
    ///
    /// The documents count if the collection syncs. If clients only write to the collection, its documents count only
    /// with ``CheckOptions/countsAsymmetric``.
    public var isCounted: Bool { scope == .synced || scope == .asymmetric && options.countsAsymmetric }

    struct NodeTexts {
        /// The path of each node, including the nodes of the constraints, of the engine and of the unique indexes.
        let paths: [SchemaPath]
        /// A text for each node that says what the schema expects there.
        let expectations: [String]
        let shown = NameIndex()
    }

    /// A keyword that no rule judges.
    public struct UnevaluatedKeyword: Hashable, Sendable {
        /// The path of the value that the keyword restricts.
        public let path: SchemaPath
        /// The name of the keyword that no rule judges.
        public let keyword: String
        /// The location of the keyword in the schema's file.
        public let location: SourceLocation

        /// The path of the schema's file.
        public var file: String { location.file }
        /// The line of the keyword in the schema's file.
        public var line: Int { location.line }

        /// Creates an instance from its parts.
        public init(path: SchemaPath, keyword: String, location: SourceLocation) {
            self.path = path
            self.keyword = keyword
            self.location = location
        }
    }

    /// Compiles a schema for the dialect in which it was read.
    /// - Parameter app: The app of the collection, which defines the partitions of its documents and the targets of its
    ///   links; without the app, partitions and links are not judged.
    public init(_ schema: CollectionSchema, of app: ServerSchema? = nil, options: CheckOptions = CheckOptions()) {
        let plan = schema.dialect == .jsonSchema ? JSONSchemaCompiler(root: schema.root).plan : nil
        jsonSchema = plan
        hasJSONSchema = plan != nil
        constraints = Self.constraints(of: schema)
        hasConstraints = constraints != nil
        let context = SchemaContext(of: schema, in: app)
        var compiler = SchemaCompiler(context)
        switch schema.dialect {
        case .appServices: compiler.compile(root: schema.root)
        case .jsonSchema: break
        case .prisma: compiler.compile(prisma: schema)
        }
        compiler.compileLinks(of: schema)
        compiler.compileRelations(of: schema)
        if schema.dialect == .appServices { compiler.compileReferences(from: schema.namespace) }
        namespace = schema.namespace
        dialect = schema.dialect
        clientName = schema.clientName
        self.options = options
        scope = app?.scope(of: schema) ?? .synced
        unevaluatedKeywords = compiler.unevaluated
        walkPlan = WalkPlan(
            nodes: compiler.nodes, fields: compiler.fields, table: compiler.table, references: compiler.references,
            knowsReferences: context.synced != nil, options: options)
        let paths = plan?.origins.map(\.path) ?? compiler.paths + (constraints?.origins.map(\.path) ?? [])
        let engine = options.engine.flatMap { EnginePlan($0, for: schema, firstNode: paths.count) }
        engines = engine.map { [$0] } ?? []
        uniqueKeys = schema.dialect.isOfSync ? [] : schema.uniqueKeys
        texts = NodeTexts(
            paths: paths + (engine?.paths ?? []) + uniqueKeys.map(\.path), expectations: compiler.expectations)
        links = compiler.links
        markUsableDefaults(compiler.defaults)
    }

    /// Whether the indexes or the filters of the schema depend on the collection's default collation.
    ///
    /// Filters for values that an `enum` does not list, and for empty texts, compare texts.
    package var dependsOnCollation: Bool {
        !uniqueKeys.isEmpty || nodes.contains { $0.flags.contains(.enumeration) }
            || [jsonSchema, constraints].contains { plan in
                plan?.origins.contains {
                    $0.schema.constraints.allowedValues != nil || $0.schema.constraints.length.minimum == 1
                } ?? false
            }
    }

    /// Returns the schema for a collection with a default collation, which its indexes have unless they state one.
    /// - Parameters:
    ///   - collation: The collation; `nil` if there is none, or if it is not known.
    ///   - isKnown: Whether `nil` means that there is none.
    package func with(collation: BSONDocument?, isKnown: Bool = false) -> CompiledSchema {
        var schema = self
        schema.comparesBytes = isKnown && collation.map { $0["locale"] == "simple" } ?? true
        for index in uniqueKeys.indices where uniqueKeys[index].collation == nil {
            schema.uniqueKeys[index].collation = collation
        }
        return schema
    }

    /// A filter that matches only documents for which ``check(_:)`` returns ``Verdict/fits``; `nil` if none can be
    /// built.
    ///
    /// The filter matches a document only if the server judges it exactly as the checker would. The check reads all
    /// other documents. With the rules of an engine, there is no filter, because the server cannot judge these rules.
    /// With unique indexes, there is none either, because a document that is read may have the value of any other.
    public var proof: BSONDocument? { hasEngine || !uniqueKeys.isEmpty ? nil : ProofBuilder(schema: self).filter }

    /// Records for each default that is not null whether it is usable; a default that does not fit the node of its
    /// field is unusable.
    private mutating func markUsableDefaults(_ defaults: [(field: Int, value: BSONValue)]) {
        for (field, value) in defaults where value != .null {
            let isUsable = fits(value, node: Int(fields[field].node))
            walkPlan.fields[field].whenMissing = isUsable ? .defaulted : .unusableDefault(type: value.type.rawValue)
        }
    }
}

extension CompiledSchema {
    /// The rules for one value: each subschema in the tree of the schema becomes one node in a flat array.
    struct Node: Sendable, BitwiseCopyable {
        /// The types that the schema names; all types if it names none.
        var accepts: TypeMask = .all
        /// The accepted types whose values need no further check.
        var plain: TypeMask = []
        var flags: Flags = []
        var place: Place = .field
        /// The fields that `properties`, `required` or the app's partition key names; for an enum, its values.
        var fields = FieldRange()
        /// A bit mask with one bit for each of the object's first 64 fields whose absence is judged.
        var required: UInt64 = 0
        var requiredCount: Int32 = 0
        /// The node of an array's elements, or of a tuple's first element; -1 if there is none.
        var items: Int32 = -1
        var tupleCount: Int32 = 0
        /// The node of the values of fields that `properties` does not name; -1 if there is none.
        var additional: Int32 = -1
    }

    /// The position of a value in its parent.
    enum Place: UInt8, Sendable, BitwiseCopyable {
        case root, id, field, element, dictionaryValue
    }

    struct Flags: OptionSet, Sendable, BitwiseCopyable {
        let rawValue: UInt32
        static var required: Self { Self(rawValue: 1) }
        /// The value's parent is not the document itself.
        static var embedded: Self { Self(rawValue: 2) }
        static var mixed: Self { Self(rawValue: 4) }
        static var uuid: Self { Self(rawValue: 8) }
        static var binary: Self { Self(rawValue: 16) }
        static var set: Self { Self(rawValue: 32) }
        static var dictionary: Self { Self(rawValue: 64) }
        static var geoPoint: Self { Self(rawValue: 128) }
        /// The node is inside a tuple.
        ///
        /// The node's path does not contain the index in the tuple, so other elements have the same path.
        static var inTuple: Self { Self(rawValue: 256) }
        /// `additionalProperties` is false.
        static var closed: Self { Self(rawValue: 512) }
        /// The walker does not judge fields that `properties` does not name, because `patternProperties` may name them.
        static var ignoresExtras: Self { Self(rawValue: 1024) }
        /// The schema names `null` among the types, or no type at all.
        static var nullable: Self { Self(rawValue: 2048) }
        /// The value is a link: the key of a document in another collection.
        static var link: Self { Self(rawValue: 4096) }
        /// The value decides the partition of the document.
        static var partition: Self { Self(rawValue: 8192) }
        /// A document without the value is in no partition.
        static var partitionRequired: Self { Self(rawValue: 16384) }
        /// The value is judged as a Prisma client reads it.
        static var prisma: Self { Self(rawValue: 32768) }
        /// A Prisma client reads a default in place of null.
        static var defaulted: Self { Self(rawValue: 65536) }
        /// The object's fields are those of a type of a Prisma schema, which is compiled once for all its uses.
        ///
        /// The paths of the nodes inside the type begin at the object.
        static var shared: Self { Self(rawValue: 262_144) }
        /// A string must be one of the names in the node's ``Node/fields``, which are the values of an enum.
        static var enumeration: Self { Self(rawValue: 131_072) }
    }

    struct Field: Sendable, BitwiseCopyable {
        var node: Int32
        /// The index of the field among the object's fields whose absence is judged, such as required ones; -1 for
        /// other fields.
        var requiredIndex: Int32 = -1
        /// The bit of the field in the mask ``Node/required``; 0 if ``requiredIndex`` is not from 0 to 63.
        var requiredBit: UInt64 = 0
        /// Whether `properties` names the field, and not only `required` or the app's partition key.
        var isDeclared = true
        var whenMissing: WhenMissing = .certain
    }

    /// The consequence of a required field that is absent.
    enum WhenMissing: Equatable, Sendable, BitwiseCopyable {
        case certain
        /// The absent field is only a possible failure, because the sync engine does not write an empty list, set or
        /// dictionary.
        case possible
        /// The absent field is no failure, because its default is of the right type and replaces the missing value.
        case defaulted
        /// The absent field is no failure, but a Prisma client reads null where its types promise a list.
        case readAsNull
        /// The field's default is of a wrong type, so clients see an error; `type` is the BSON type of the default.
        case unusableDefault(type: UInt8)
        /// The absent field is the partition key. If `isAllowed`, the document is in the null partition; otherwise it
        /// is in no partition.
        case unpartitioned(isAllowed: Bool)
    }
}

extension CompiledSchema {
    /// A collection that a DBRef may lead to.
    struct Reference: Sendable, BitwiseCopyable {
        var database: FieldKey
        var collection: FieldKey
        /// Whether the collection is in the same database as the document; a DBRef may then omit the database.
        var isNear: Bool
        var idTypes: TypeMask
        var hasUUIDs: Bool
    }

    /// A field that links to documents of another collection by holding their keys.
    struct Link: Sendable {
        /// The node of a link's key: the node of the field, or of the field's elements or values.
        var node: Int
        var target: LinkTarget
        /// The relation of a Prisma schema; `nil` in other dialects.
        var relation: PrismaRelation?
    }
}

/// The paths at which findings can occur; the operator's files, such as exceptions, name such paths.
extension CompiledSchema {
    package var placeNames: [String] {
        guard dialect == .prisma else { return texts.paths.map(\.description) }
        var places: [(node: Int, path: SchemaPath)] = [(0, SchemaPath())]
        var next = 0
        // A type that contains itself has any number of paths.
        while next < places.count, places.count < 1_000 {
            let place = places[next]
            next += 1
            let (node, isObject) = (nodes[place.node], nodes[place.node].accepts == .object)
            if node.items >= 0 { places.append((Int(node.items), place.path.appending(.elements))) }
            for field in isObject ? Int(node.fields.first)..<Int(node.fields.first + node.fields.count) : 0..<0 {
                places.append((Int(fields[field].node), place.path.appending(.field(table.name(field)))))
            }
        }
        return places.map(\.path.description)
    }

    /// Whether a rule can report a finding at a path.
    ///
    /// True if the schema names the path, or if the path leads into a mixed value. The rules of an engine, and the
    /// rules about fields that the schema does not name, can report a finding at every path.
    package func canReport(_ rule: RuleCode, at path: String) -> Bool {
        if rule == .extraField || rule == .additionalProperty || rule == .reservedField { return true }
        // An engine judges all values, also those that the schema does not name.
        if EngineRule.named(rule) != nil { return true }
        if dialect == .prisma { return node(at: SchemaPath(shown: path)) != nil }
        if texts.shown.position(of: path, among: texts.paths.lazy.map(\.description)) != nil { return true }
        // `nodes` has no entries for constraints and for schemas of the `jsonschema` dialect, so `zip` leaves out the
        // paths of their nodes.
        return zip(texts.paths, nodes).contains { place, node in
            guard node.flags.contains(.mixed) else { return false }
            let name = place.description
            return path.hasPrefix(name + "[]") || path.hasPrefix(name + "{}")
        }
    }

    /// Returns the node at a path; `nil` if the schema names no such path.
    private func node(at path: SchemaPath) -> Int? {
        var index = 0
        for step in path.steps {
            let node = nodes[index]
            switch step {
            case .field(let name) where node.accepts == .object:
                let names = Int(node.fields.first)..<Int(node.fields.first + node.fields.count)
                guard let field = names.first(where: { table.name($0) == name }) else { return nil }
                index = Int(fields[field].node)
            case .elements where node.items >= 0: index = Int(node.items)
            default: return nil
            }
        }
        return index
    }
}

/// The parts of a compiled schema that ``Walker`` reads.
///
/// The type has no other parts, because it is copied for each document.
struct WalkPlan: Sendable {
    let nodes: [CompiledSchema.Node]
    var fields: [CompiledSchema.Field]
    /// The names of ``fields``, in their order, and the names of the databases and collections in ``references``.
    let table: FieldTable
    /// The collections that a DBRef may lead to.
    let references: [CompiledSchema.Reference]
    /// Whether ``references`` holds all collections that sync.
    let knowsReferences: Bool
    let options: CheckOptions
}
