import BSON
import Patterns
import ServerSchema

/// A schema of the `jsonschema` dialect, compiled once into flat arrays against which documents are checked.
///
/// Each subschema is a node. A node has the index of one rule for each group of keywords that the subschema uses, such
/// as the keywords of numbers.
struct JSONSchemaPlan: Sendable {
    var nodes: [Node] = []
    /// The fields, one for each name in ``table``.
    var fields: [Field] = []
    var table = FieldTable()
    var numberRules: [NumberRule] = []
    var stringRules: [StringRule] = []
    var arrayRules: [ArrayRule] = []
    var objectRules: [ObjectRule] = []
    var valueRules: [ValueRule] = []
    var patterns: [Pattern] = []
    var patternFields: [PatternField] = []
    var paths: [PathField] = []
    var dependencies: [Dependency] = []
    var combinations: [Combination] = []
    var selectors: [Selector] = []
    var allowed = AllowedValues()
    /// The subschema from which each node was compiled, for the paths, texts and filters of findings.
    var origins: [Origin] = []

    /// A subschema, with the indexes of its rules.
    struct Node: Sendable, BitwiseCopyable {
        /// The types that the schema names; all types if it names none.
        var accepts: TypeMask = .all
        /// The accepted types whose values need no further check.
        var plain: TypeMask = .all
        /// Whether the subschema has a keyword that names types; if `false`, it accepts all types.
        var isStated = false
        /// Whether the subschema names one type only, possibly `number`; mongod then ignores keywords for other types.
        var isSingle = false
        // The indexes of the node's rules in the arrays of the plan; -1 if the node has no such rule.
        var numbers: Int32 = -1
        var strings: Int32 = -1
        var arrays: Int32 = -1
        var objects: Int32 = -1
        var values: Int32 = -1
    }

    /// A field that `properties` or `required` names.
    struct Field: Sendable, BitwiseCopyable {
        /// The node that judges the field's value; -1 if the name is a path, is empty, or is only in `required`.
        var node: Int32
        /// The node with the field's path, which a finding names if the field is missing.
        var place: Int32
        var isRequired = false
        var isDeclared = true
    }

    /// The keywords of strings: `minLength`, `maxLength`, `pattern`.
    struct StringRule: Sendable, BitwiseCopyable {
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        var pattern: Int32 = -1
    }

    /// The keywords of arrays: `minItems`, `maxItems`, `uniqueItems`, `items`, `additionalItems`.
    struct ArrayRule: Sendable, BitwiseCopyable {
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        var isUnique = false
        /// The node that judges every element; -1 if `items` is not a single schema.
        var items: Int32 = -1
        var firstInTuple: Int32 = 0
        var tupleCount: Int32 = 0
        /// The rule for the elements beyond the length of the list `items`.
        var additional = Others.allowed
    }

    /// The keywords of objects.
    struct ObjectRule: Sendable, BitwiseCopyable {
        var range = FieldRange()
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        /// The rule for fields that `properties` does not name and that no pattern in `patternProperties` matches.
        var additional = Others.allowed
        var firstPattern: Int32 = 0
        var patternCount: Int32 = 0
        /// The index in ``JSONSchemaPlan/paths`` of the object's first field that is judged as a path.
        var firstPath: Int32 = 0
        var pathCount: Int32 = 0
        var firstDependency: Int32 = 0
        var dependencyCount: Int32 = 0
        /// Whether at least one of the fields in ``range`` is required.
        var hasRequired = false

        var restrictsOthers: Bool { additional.isRestricted || patternCount > 0 }
    }

    /// The rule of `additionalProperties` or `additionalItems`, for the fields or elements that no other keyword
    /// judges.
    struct Others: Sendable, BitwiseCopyable {
        /// The node that judges the fields or elements; -1 if all of them are allowed, -2 if none of them is allowed.
        var node: Int32
        static let allowed = Others(node: -1)
        static let forbidden = Others(node: -2)
        var isRestricted: Bool { node != -1 }
        var isForbidden: Bool { node == -2 }
    }

    /// The values that the `enum` keywords of the schema allow.
    struct AllowedValues: Sendable {
        /// The largest number of values of one `enum` that are compared one by one; a longer `enum` is searched by
        /// hashes.
        static let few = 16

        /// The allowed values, each stored as the only field of a document; the name of the field is empty.
        private(set) var holders: [BSONDocument] = []
        /// The hashes of the values in ``holders``, in their order.
        ///
        /// The hashes of an `enum` with more than ``few`` values are in ascending order.
        private(set) var hashes: [UInt64] = []

        /// Adds the values of one `enum`, and returns the index of the first one.
        mutating func append(_ values: [BSONValue]) -> Int32 {
            let first = Int32(holders.count)
            var added = values.map { value in
                let holder = BSONDocument([("", value)])
                return (hash: ValueHash.hash(onlyElementOf: holder), holder: holder)
            }
            if added.count > Self.few { added.sort { $0.hash < $1.hash } }
            holders += added.map(\.holder)
            hashes += added.map(\.hash)
            return first
        }
    }

    /// The keywords for values of every type: `enum`, `encrypt`, and the keywords that combine schemas.
    struct ValueRule: Sendable, BitwiseCopyable {
        var firstAllowed: Int32 = 0
        /// The number of values that `enum` allows; -1 if there is no `enum`.
        var allowedCount: Int32 = -1
        var firstCombination: Int32 = 0
        var combinationCount: Int32 = 0
        var isEncrypted = false
        /// The types that `encrypt` allows for the value before its encryption.
        var encryptedTypes = TypeMask.all
        /// Whether `encrypt` names the types of the value before its encryption.
        var namesEncryptedTypes = false
    }

    struct PatternField: Sendable, BitwiseCopyable {
        var pattern: Int32
        var node: Int32
    }

    /// A field that is judged as a path, because its name cannot be compared as a whole.
    ///
    /// It is a name in `properties` that contains a dot, is empty, or occurs for the second time, or a name in
    /// `required` that contains a dot.
    struct PathField: Sendable {
        var components: [String]
        /// The node that judges the values at the path; -1 if only `required` names the path.
        var node: Int32
        var place: Int32
        var isRequired: Bool
        /// Whether the subschema judges the object that contains the field, and not the field's value.
        ///
        /// True for a property named "", because mongod reads an empty name as the object itself.
        var judgesWhole: Bool
    }

    struct Dependency: Sendable {
        var field: [String]
        /// The fields that must be present if ``field`` is present.
        var fields: [(name: String, components: [String])]
        /// The node that judges an object with ``field``; -1 if this `dependencies` entry is a list of fields.
        var node: Int32
    }

    /// A keyword that combines schemas: `allOf`, `anyOf`, `oneOf`, or `not`.
    struct Combination: Sendable, BitwiseCopyable {
        var kind: Constraints.Combination.Kind
        var first: Int32
        var count: Int32
    }

    /// A field for which one schema of `anyOf` or `oneOf` allows only one value, so that the value selects the schema.
    struct Selector: Sendable {
        /// The node of the schema.
        var member: Int32
        var name: String
        var value: BSONValue
        var allowed: Int32
        /// Whether a value that selects the schema fits no other schema of the same keyword.
        var excludesOthers: Bool
        /// The node with the values of all schemas, if each of them allows one value of this field; otherwise -1.
        var discriminator: Int32
        /// Whether the schema around the keyword requires the field too, and so reports its absence.
        var isRequired: Bool
    }

    /// The subschema from which a node was compiled, and its position in the whole schema.
    struct Origin: Sendable {
        var schema: SchemaNode
        var path: SchemaPath
        /// The node of the parent schema; -1 for the root.
        var parent: Int32
        var step: Step

        /// The keyword by which the parent schema contains this subschema.
        enum Step: Sendable, Hashable {
            case root
            case property(String), additional, pattern(String)
            case items, tuple(Int), additionalItems
            case combination(Constraints.Combination.Kind, Int), dependency(String)
        }
    }
}

extension JSONSchemaPlan {
    /// Returns in words what the schema expects of the value that has the finding.
    func expectation(of finding: Finding) -> String {
        let conditions = branches(around: Int(finding.node)).flatMap(\.conditions).map { path, value in
            "\(path) is \((try? value.extendedJSON(.relaxed)) ?? "one value")"
        }
        let expected = expectationAlone(of: finding)
        return conditions.isEmpty ? expected : "\(expected), where \(conditions.joined(separator: " and "))"
    }

    /// Returns the schemas of `oneOf` and `anyOf` that contain a node, from the document inwards.
    ///
    /// A node outside of `nodes`, such as one of an engine's rules, is in none.
    func branches(around node: Int) -> [SchemaBranch] {
        lineage(of: node < origins.count ? node : 0).reversed().compactMap { node in
            guard case .combination(let kind, let index) = origins[node].step, [.oneOf, .anyOf].contains(kind) else {
                return nil
            }
            let fields = selectors.filter { $0.member == node }.map { ($0.name, $0.value) }
            return .init(path: origins[node].path, kind: kind, index: index, selectors: BSONDocument(fields))
        }
    }

    /// Returns a node and those around it, from the inside outwards, without the root.
    func lineage(of node: Int) -> [Int] {
        sequence(first: node) { Int(origins[$0].parent) }.prefix { $0 > 0 }
    }

    /// Returns in words what the finding's own schema expects.
    private func expectationAlone(of finding: Finding) -> String {
        let schema = origins[Int(finding.node)].schema
        let constraints = schema.constraints
        func text(_ value: BSONValue?) -> String { value.flatMap { try? $0.extendedJSON(.relaxed) } ?? "a number" }
        switch finding.rule {
        case .belowMinimum:
            return (constraints.minimum.isExclusive ? "more than " : "at least ") + text(constraints.minimum.number)
        case .aboveMaximum:
            return (constraints.maximum.isExclusive ? "less than " : "at most ") + text(constraints.maximum.number)
        case .notMultipleOf: return "a multiple of \(text(constraints.multipleOf))"
        case .tooShort: return "at least \(constraints.length.minimum ?? 0) characters"
        case .tooLong: return "at most \(constraints.length.maximum ?? 0) characters"
        case .patternMismatch: return "a match of \(constraints.pattern ?? "")"
        case .notInEnum: return "one of \(constraints.allowedValues?.count ?? 0) values"
        case .tooFewItems: return "at least \(constraints.itemCount.minimum ?? 0) elements"
        case .tooManyItems: return "at most \(constraints.itemCount.maximum ?? 0) elements"
        case .additionalItem: return "no further elements"
        case .tooFewProperties: return "at least \(constraints.propertyCount.minimum ?? 0) fields"
        case .tooManyProperties: return "at most \(constraints.propertyCount.maximum ?? 0) fields"
        case .dependencyMissing: return "the field that another field requires"
        case .dependencySchema: return "the object that a field requires"
        case .allOf, .anyOf, .oneOf, .not: return expectation(of: finding.rule, constraints)
        case .encryptMismatch: return "encrypted data"
        default: return finding.rule.expectation ?? schema.expectation()
        }
    }

    private func expectation(of rule: Rule, _ constraints: Constraints) -> String {
        func count(_ kind: Constraints.Combination.Kind) -> Int {
            constraints.combinations.first { $0.kind == kind }?.nodes.count ?? 0
        }
        return switch rule {
        case .allOf: "all of \(count(.allOf)) schemas"
        case .anyOf: "any of \(count(.anyOf)) schemas"
        case .oneOf: "exactly one of \(count(.oneOf)) schemas"
        default: "not what the schema excludes"
        }
    }
}
