import BSON
import Patterns
import ServerSchema

/// A schema of the `jsonschema` dialect in the form that documents are checked against: flat arrays, made once.
///
/// A subschema is a node; a node's keywords are rules, and a keyword that is absent has none.
struct JSONSchemaPlan: Sendable {
    var nodes: [Node] = []
    /// One per field of ``table``.
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
    /// The allowed values of all `enum`s, each in a document of its own under an empty name.
    var allowedValues: [BSONDocument] = []
    /// Their hashes; those of an `enum` of many values stand in ascending order, and so do its values.
    var allowedHashes: [UInt64] = []
    /// One per node: whence it comes, for paths, words and filters.
    var origins: [Origin] = []

    /// A subschema.
    struct Node: Sendable, BitwiseCopyable {
        /// The types that the schema names; all of them when it names none.
        var accepts: TypeMask = .all
        /// Those of them that need no further look.
        var plain: TypeMask = .all
        /// Whether the schema names types at all.
        var isStated = false
        /// Whether it names one type, or `number`: mongod then drops what restricts other types.
        var isSingle = false
        // Indices of the rules; -1 where there is none.
        var numbers: Int32 = -1
        var strings: Int32 = -1
        var arrays: Int32 = -1
        var objects: Int32 = -1
        var values: Int32 = -1
    }

    /// A field that `properties` or `required` names.
    struct Field: Sendable, BitwiseCopyable {
        /// What its value must be; -1 where the name is a path, or empty, and the field of that very name is not seen.
        var node: Int32
        /// The node that stands for its place.
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
        /// What every element must be.
        var items: Int32 = -1
        var firstInTuple: Int32 = 0
        var tupleCount: Int32 = 0
        /// What the elements behind the tuple must be.
        var additional = Others.allowed
    }

    /// The keywords of objects.
    struct ObjectRule: Sendable, BitwiseCopyable {
        var range = FieldRange()
        var minimum: Int64 = 0
        var maximum: Int64 = .max
        /// What the fields must be that neither `properties` nor a pattern names.
        var additional = Others.allowed
        var firstPattern: Int32 = 0
        var patternCount: Int32 = 0
        /// The names that are paths, and those that are empty or repeat.
        var firstPath: Int32 = 0
        var pathCount: Int32 = 0
        var firstDependency: Int32 = 0
        var dependencyCount: Int32 = 0
        /// Whether `required` names a plain field.
        var hasRequired = false

        /// Whether each field is looked at beside those that `properties` names.
        var restrictsOthers: Bool { additional.isRestricted || patternCount > 0 }
    }

    /// What is demanded of the rest.
    struct Others: Sendable, BitwiseCopyable {
        /// -1 for nothing, -2 for absence, else a node.
        var node: Int32
        static let allowed = Others(node: -1)
        static let forbidden = Others(node: -2)
        var isRestricted: Bool { node != -1 }
        var isForbidden: Bool { node == -2 }
    }

    /// `enum`, `encrypt`, and the keywords that combine schemas.
    struct ValueRule: Sendable, BitwiseCopyable {
        var firstAllowed: Int32 = 0
        /// More values than this are looked up by their hashes.
        static let fewValues = 16

        /// -1 when there is no `enum`.
        var allowedCount: Int32 = -1
        var firstCombination: Int32 = 0
        var combinationCount: Int32 = 0
        var isEncrypted = false
        /// The types that a value may have had before it was encrypted.
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
        /// What the values must be; -1 when `required` alone names it.
        var node: Int32
        var place: Int32
        var isRequired: Bool
        /// Whether the schema judges the object around the field, as that of a property named "" does.
        var judgesWhole: Bool
    }

    /// An entry of `dependencies`.
    struct Dependency: Sendable {
        var field: [String]
        /// The fields that must be there too.
        var fields: [(name: String, components: [String])]
        /// What the object must be; -1 when the entry lists fields.
        var node: Int32
    }

    /// `allOf`, `anyOf`, `oneOf`, or `not`.
    struct Combination: Sendable, BitwiseCopyable {
        var kind: Constraints.Combination.Kind
        var first: Int32
        var count: Int32
    }

    /// Whence a node comes.
    struct Origin: Sendable {
        var schema: SchemaNode
        var path: SchemaPath
        /// -1 for the root.
        var parent: Int32
        var step: Step

        /// The way from the parent's schema to this one.
        enum Step: Sendable, Hashable {
            case root
            case property(String), additional, pattern(String)
            case items, tuple(Int), additionalItems
            case combination(Constraints.Combination.Kind, Int), dependency(String)
        }
    }
}

extension JSONSchemaPlan {
    /// What the schema wants where a finding is, in words.
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
        case .dependencyMissing: return "the field that another one asks for"
        case .dependencySchema: return "what a field asks of the object"
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
