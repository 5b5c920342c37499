import BSON
import Patterns
import ServerSchema

/// A schema of the `jsonschema` dialect, compiled once into flat arrays against which documents are checked.
///
/// Each subschema is a node. The keywords of a node are rules; a keyword that is absent has no rule.
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
    /// The allowed values of all `enum`s, each in a document of its own with an empty name.
    var allowedValues: [BSONDocument] = []
    /// The hashes of the allowed values; those of an `enum` of many values are in ascending order, and so are the
    /// values.
    var allowedHashes: [UInt64] = []
    /// The origin of each node, for paths, texts and filters.
    var origins: [Origin] = []

    /// A subschema.
    struct Node: Sendable, BitwiseCopyable {
        /// The types that the schema names; all types if it names none.
        var accepts: TypeMask = .all
        /// The accepted types whose values need no further check.
        var plain: TypeMask = .all
        /// Whether the schema names types at all.
        var isStated = false
        /// Whether it names one type, or `number`: mongod then ignores the keywords that restrict other types.
        var isSingle = false
        // The indices of the rules; -1 if there is none.
        var numbers: Int32 = -1
        var strings: Int32 = -1
        var arrays: Int32 = -1
        var objects: Int32 = -1
        var values: Int32 = -1
    }

    /// A field that `properties` or `required` names.
    struct Field: Sendable, BitwiseCopyable {
        /// The node of the value; -1 if the name is a path, is empty, or is only in `required`.
        var node: Int32
        /// The node that has the field's path.
        var place: Int32
        var isRequired = false
        /// Whether `properties` names it.
        var isDeclared = true
    }

    /// `minLength`, `maxLength`, `pattern`.
    struct StringRule: Sendable, BitwiseCopyable {
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        var pattern: Int32 = -1
    }

    /// `minItems`, `maxItems`, `uniqueItems`, `items`, `additionalItems`.
    struct ArrayRule: Sendable, BitwiseCopyable {
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        var isUnique = false
        /// The node of every element; -1 if `items` is not a single schema.
        var items: Int32 = -1
        var firstInTuple: Int32 = 0
        var tupleCount: Int32 = 0
        /// The rule for the elements after the tuple.
        var additional = Others.allowed
    }

    /// The keywords of objects.
    struct ObjectRule: Sendable, BitwiseCopyable {
        var range = FieldRange()
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        /// The rule for fields that neither `properties` nor a pattern names.
        var additional = Others.allowed
        var firstPattern: Int32 = 0
        var patternCount: Int32 = 0
        /// The names that are paths, are empty, or repeat.
        var firstPath: Int32 = 0
        var pathCount: Int32 = 0
        var firstDependency: Int32 = 0
        var dependencyCount: Int32 = 0
        /// Whether `required` names a plain field.
        var hasRequired = false

        /// Whether patterns or `additionalProperties` judge the fields too.
        var restrictsOthers: Bool { additional.isRestricted || patternCount > 0 }
    }

    /// The rule for the fields or elements that no other keyword names.
    struct Others: Sendable, BitwiseCopyable {
        /// The node that judges them; -1 if all are allowed, -2 if none is.
        var node: Int32
        static let allowed = Others(node: -1)
        static let forbidden = Others(node: -2)
        var isRestricted: Bool { node != -1 }
        var isForbidden: Bool { node == -2 }
    }

    /// `enum`, `encrypt`, and the keywords that combine schemas.
    struct ValueRule: Sendable, BitwiseCopyable {
        var firstAllowed: Int32 = 0
        /// The largest number of values that are compared one by one; more are searched for by their hashes.
        static let fewValues = 16

        /// The number of allowed values; -1 if there is no `enum`.
        var allowedCount: Int32 = -1
        var firstCombination: Int32 = 0
        var combinationCount: Int32 = 0
        var isEncrypted = false
        /// The types that `encrypt` allows for the value before its encryption.
        var encryptedTypes = TypeMask.all
        /// Whether `encrypt` names such types.
        var namesEncryptedTypes = false
    }

    /// An entry of `patternProperties`.
    struct PatternField: Sendable, BitwiseCopyable {
        var pattern: Int32
        var node: Int32
    }

    /// A name that is a path, or that the field table cannot hold.
    struct PathField: Sendable {
        var components: [String]
        /// The node of the values; -1 if only `required` names the path.
        var node: Int32
        var place: Int32
        var isRequired: Bool
        /// Whether the schema judges the object that holds the field, as the schema of a property named "" does.
        var judgesWhole: Bool
    }

    /// An entry of `dependencies`.
    struct Dependency: Sendable {
        var field: [String]
        /// The fields that must be present too.
        var fields: [(name: String, components: [String])]
        /// The node that judges the object; -1 if the entry lists fields.
        var node: Int32
    }

    /// `allOf`, `anyOf`, `oneOf`, or `not`.
    struct Combination: Sendable, BitwiseCopyable {
        var kind: Constraints.Combination.Kind
        var first: Int32
        var count: Int32
    }

    /// The origin of a node.
    struct Origin: Sendable {
        var schema: SchemaNode
        var path: SchemaPath
        /// The parent's node; -1 for the root.
        var parent: Int32
        var step: Step

        /// The step from the parent's schema to this one.
        enum Step: Sendable, Hashable {
            case root
            case property(String), additional, pattern(String)
            case items, tuple(Int), additionalItems
            case combination(Constraints.Combination.Kind, Int), dependency(String)
        }
    }
}

extension JSONSchemaPlan {
    /// Returns the expectation of the schema at a finding, in words.
    func expectation(of finding: Finding) -> String {
        let schema = origins[Int(finding.node)].schema
        let constraints = schema.constraints
        func text(_ value: BSONValue?) -> String { value.flatMap { try? $0.extendedJSON(.relaxed) } ?? "a number" }
        switch finding.rule {
        case .belowMinimum:
            return (constraints.isMinimumExclusive ? "more than " : "at least ") + text(constraints.minimum)
        case .aboveMaximum:
            return (constraints.isMaximumExclusive ? "less than " : "at most ") + text(constraints.maximum)
        case .notMultipleOf: return "a multiple of \(text(constraints.multipleOf))"
        case .tooShort: return "at least \(constraints.minLength ?? 0) characters"
        case .tooLong: return "at most \(constraints.maxLength ?? 0) characters"
        case .patternMismatch: return "a match of \(constraints.pattern ?? "")"
        case .notInEnum: return "one of \(constraints.allowedValues?.count ?? 0) values"
        case .tooFewItems: return "at least \(constraints.minItems ?? 0) elements"
        case .tooManyItems: return "at most \(constraints.maxItems ?? 0) elements"
        case .itemsNotUnique: return "distinct elements"
        case .additionalItem: return "no further elements"
        case .tooFewProperties: return "at least \(constraints.minProperties ?? 0) fields"
        case .tooManyProperties: return "at most \(constraints.maxProperties ?? 0) fields"
        case .additionalProperty: return "no such field"
        case .dependencyMissing: return "the field that another field requires"
        case .dependencySchema: return "the object that a field requires"
        case .allOf, .anyOf, .oneOf, .not: return expectation(of: finding.rule, constraints)
        case .encryptMismatch: return "encrypted data"
        default: return schema.expectation()
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
