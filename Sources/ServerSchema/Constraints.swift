public import BSON

/// The demands of a schema on a value, apart from its type and its fields.
///
/// A keyword restricts only values of its kind: `minimum` restricts numbers, `pattern` restricts strings.
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
    /// The rule for the elements after those of a tuple; `nil` if they may be anything.
    public var additionalItems: SchemaNode.AdditionalProperties?
    /// The least count of fields of an object.
    public var minProperties: Int64?
    /// The largest count of fields of an object.
    public var maxProperties: Int64?
    /// The schemas of fields whose names match a regular expression, in the file's order.
    public var patternProperties: [SchemaNode.PatternProperty] = []
    /// The conditions that apply when a field is present, in the file's order.
    public var dependencies: [Dependency] = []
    /// The keywords that combine schemas, in the file's order.
    public var combinations: [Combination] = []
    /// The encrypted values that are allowed; `nil` where the schema does not ask for encryption.
    public var encryption: Encryption?

    /// No demands.
    public init() {}

    /// A condition that applies when a field is present.
    public struct Dependency: Sendable {
        /// The field whose presence makes the condition apply.
        public var field: String
        /// The condition.
        public var demand: Demand

        /// A condition on the object that has the field.
        public enum Demand: Sendable {
            /// These fields are present too.
            case fields([String])
            /// The object that has the field fits this schema.
            case schema(SchemaNode)
        }
    }

    /// A keyword that combines schemas.
    public struct Combination: Sendable {
        /// How the schemas are combined.
        public var kind: Kind
        /// The schemas that are combined.
        public var nodes: [SchemaNode]

        /// A kind of combination; the raw value is the keyword.
        public enum Kind: String, Hashable, Sendable, BitwiseCopyable {
            case allOf, anyOf, oneOf, not
        }
    }

    /// Binary data that a client encrypted.
    public struct Encryption: Sendable {
        /// The types that the value may have had before encryption; `nil` for any.
        public var types: [SchemaType]?
    }
}

extension SchemaNode {
    /// The schema of the fields whose names match a regular expression.
    public struct PatternProperty: Sendable {
        /// The regular expression.
        public var pattern: String
        /// The schema that the values of these fields must fit.
        public var node: SchemaNode
    }
}
