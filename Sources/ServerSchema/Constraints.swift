public import BSON

/// What a schema demands of a value beside its type and its fields.
///
/// A keyword restricts only the values that it speaks of: `minimum` numbers, `pattern` strings.
public struct Constraints: Sendable {
    /// The least number; numbers of all four types are compared by value.
    public var minimum: BSONValue?
    /// Whether the least number itself is too small.
    public var isMinimumExclusive = false
    /// The largest number.
    public var maximum: BSONValue?
    /// Whether the largest number itself is too large.
    public var isMaximumExclusive = false
    /// The number that a number must be a multiple of.
    public var multipleOf: BSONValue?
    /// The least count of code points of a string.
    public var minLength: Int64?
    /// The largest count of code points of a string.
    public var maxLength: Int64?
    /// The regular expression that must match somewhere in a string.
    public var pattern: String?
    /// The values that are allowed; `nil` for any.
    public var allowedValues: [BSONValue]?
    /// The least count of elements of an array.
    public var minItems: Int64?
    /// The largest count of elements of an array.
    public var maxItems: Int64?
    /// What the elements behind those of a tuple must be; `nil` for anything.
    public var additionalItems: SchemaNode.AdditionalProperties?
    /// The least count of fields of an object.
    public var minProperties: Int64?
    /// The largest count of fields of an object.
    public var maxProperties: Int64?
    /// What the fields must be whose names a regular expression matches, in the file's order.
    public var patternProperties: [SchemaNode.PatternProperty] = []
    /// What must hold when a field is there, in the file's order.
    public var dependencies: [Dependency] = []
    /// The keywords that combine schemas, in the file's order.
    public var combinations: [Combination] = []
    /// The encrypted values that are allowed; `nil` where the schema does not ask for encryption.
    public var encryption: Encryption?

    /// No demands.
    public init() {}

    /// What must hold when a field is there.
    public struct Dependency: Sendable {
        /// The field.
        public var field: String
        /// What must hold.
        public var demand: Demand

        /// What must hold.
        public enum Demand: Sendable {
            /// These fields are there too.
            case fields([String])
            /// The object that has the field fits this schema.
            case schema(SchemaNode)
        }
    }

    /// A keyword that combines schemas.
    public struct Combination: Sendable {
        /// How.
        public var kind: Kind
        /// Of what.
        public var nodes: [SchemaNode]

        /// How schemas are combined, as the keyword is spelled.
        public enum Kind: String, Hashable, Sendable, BitwiseCopyable {
            case allOf, anyOf, oneOf, not
        }
    }

    /// Binary data that a client encrypted.
    public struct Encryption: Sendable {
        /// The types that the value had before; `nil` for any.
        public var types: [SchemaType]?
    }
}

extension SchemaNode {
    /// What the fields must be whose names a regular expression matches.
    public struct PatternProperty: Sendable {
        /// The regular expression.
        public var pattern: String
        /// What their values must be.
        public var node: SchemaNode
    }
}
