public import BSON

/// The demands of a schema on a value, apart from its type and its fields.
///
/// A keyword restricts only values of its kind: `minimum` restricts numbers, `pattern` restricts strings.
public struct Constraints: Sendable {
    /// The least number that is allowed.
    public var minimum = Bound()
    /// The largest number that is allowed.
    public var maximum = Bound()
    /// The number of which a number must be a multiple.
    public var multipleOf: BSONValue?
    /// The length of a string, in code points.
    public var length = CountRange()
    /// The regular expression that must match somewhere in a string.
    public var pattern: String?
    /// The values that are allowed; `nil` for any.
    public var allowedValues: [BSONValue]?
    /// The number of elements in an array.
    public var itemCount = CountRange()
    /// The rule for the elements of an array after those that `items` describes by position; `nil` if they may be
    /// anything.
    public var additionalItems: SchemaNode.AdditionalProperties?
    /// The number of fields in an object.
    public var propertyCount = CountRange()
    /// The schemas of fields whose names match a regular expression, in the file's order.
    public var patternProperties: [SchemaNode.PatternProperty] = []
    /// The conditions that apply when a field is present, in the file's order.
    public var dependencies: [Dependency] = []
    /// The keywords that combine schemas, in the file's order.
    public var combinations: [Combination] = []
    /// The demand that the value is encrypted; `nil` if the schema demands no encryption.
    public var encryption: Encryption?

    /// Creates constraints that restrict nothing.
    public init() {}

    /// The least or the largest number that is allowed.
    public struct Bound: Hashable, Sendable {
        /// The number, which is compared by value with numbers of all four types; `nil` if there is no bound.
        public var number: BSONValue?
        /// Whether the number itself is not allowed.
        public var isExclusive: Bool

        /// Creates a bound.
        public init(number: BSONValue? = nil, isExclusive: Bool = false) {
            (self.number, self.isExclusive) = (number, isExclusive)
        }
    }

    /// The counts that are allowed.
    public struct CountRange: Hashable, Sendable {
        /// The least count; `nil` if every small count is allowed.
        public var minimum: Int64?
        /// The largest count; `nil` if every large count is allowed.
        public var maximum: Int64?

        /// Whether some counts are not allowed.
        package var isRestricted: Bool { minimum != nil || maximum != nil }
    }

    /// A condition that applies when a field is present.
    public struct Dependency: Sendable {
        /// The field whose presence makes the condition apply.
        public var field: String
        /// The condition.
        public var demand: Demand

        /// A condition on the object that has the field.
        public enum Demand: Sendable {
            /// The object must have these fields too.
            case fields([String])
            /// The object must fit this schema.
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

    /// The demand that a value is binary data that a client encrypted.
    public struct Encryption: Sendable {
        /// The types that the value may have had before encryption; `nil` for any.
        public var types: [SchemaType]?
    }
}
