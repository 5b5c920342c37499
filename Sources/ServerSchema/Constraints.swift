public import BSON

/// A schema's restrictions on a value, such as `minimum`.
///
/// The type and a few other restrictions are not here, because they are properties of ``SchemaNode``.
///
/// A keyword for one kind of value restricts only values of that kind: `minimum` restricts numbers, `pattern` restricts
/// strings.
public struct Constraints: Sendable {
    /// The least number that is allowed.
    public var minimum = Bound()
    /// The largest number that is allowed.
    public var maximum = Bound()
    /// The number of which the value must be a multiple.
    public var multipleOf: BSONValue?
    /// The allowed lengths of a string, in code points.
    public var length = CountRange()
    /// The regular expression that must match somewhere in a string.
    public var pattern: String?
    /// The values that are allowed; `nil` if every value is allowed.
    public var allowedValues: [BSONValue]?
    /// The allowed numbers of elements in an array.
    public var itemCount = CountRange()
    /// The rule for array elements beyond the positions that `items` lists.
    ///
    /// `nil` if these elements may have any value.
    public var additionalItems: SchemaNode.AdditionalProperties?
    /// The allowed numbers of fields in an object.
    public var propertyCount = CountRange()
    /// The schemas of fields whose names match a regular expression, in the file's order.
    public var patternProperties: [SchemaNode.PatternProperty] = []
    /// The conditions that apply when a field is present, in the file's order.
    public var dependencies: [Dependency] = []
    /// The keywords that combine schemas, each with its schemas.
    public var combinations: [Combination] = []
    /// The rule that the value must be encrypted; `nil` if it need not be.
    public var encryption: Encryption?

    /// Creates constraints that restrict nothing.
    public init() {}

    /// A lower or an upper bound for numbers.
    public struct Bound: Hashable, Sendable {
        /// The number; `nil` if there is no bound.
        ///
        /// Numbers of all four BSON types are compared with the bound by value.
        public var number: BSONValue?
        /// Whether a value must differ from the bound; if `false`, a value may equal the bound.
        public var isExclusive: Bool

        /// Creates a bound; the default allows every number.
        public init(number: BSONValue? = nil, isExclusive: Bool = false) {
            (self.number, self.isExclusive) = (number, isExclusive)
        }
    }

    /// The range of allowed counts, for example of the elements of an array.
    public struct CountRange: Hashable, Sendable {
        /// The least allowed count; `nil` if there is no lower limit.
        public var minimum: Int64?
        /// The largest allowed count; `nil` if there is no upper limit.
        public var maximum: Int64?

        /// Whether the range has a lower or an upper limit.
        package var isRestricted: Bool { minimum != nil || maximum != nil }
    }

    /// A condition that applies when a field is present.
    public struct Dependency: Sendable {
        /// The field whose presence makes the condition apply.
        public var field: String
        /// The condition that an object with this field must meet.
        public var demand: Demand

        /// A condition that an object must meet if it has the field of a dependency.
        public enum Demand: Sendable {
            /// The object must have all of these fields.
            case fields([String])
            /// The object must fit the given schema.
            case schema(SchemaNode)
        }
    }

    /// A keyword that combines schemas.
    public struct Combination: Sendable {
        /// The way in which the keyword combines the schemas.
        public var kind: Kind
        /// The schemas that the keyword combines.
        public var nodes: [SchemaNode]

        /// A kind of combination; the raw value is the keyword.
        public enum Kind: String, Hashable, Sendable, BitwiseCopyable {
            case allOf, anyOf, oneOf, not
        }
    }

    /// The rule that a value must be binary data that a client has encrypted.
    public struct Encryption: Sendable {
        /// The types that the value may have had before its encryption; `nil` if it may have had any type.
        public var types: [SchemaType]?
    }
}
