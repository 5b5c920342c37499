/// The rules of the `jsonschema` dialect (`semantics.md`, section 5.2), beside those that it shares with the other one.
extension RuleCode {
    /// A number is less than `minimum`.
    public static let belowMinimum = Self(rawValue: "below-minimum")
    /// A number is more than `maximum`.
    public static let aboveMaximum = Self(rawValue: "above-maximum")
    /// A number is no multiple of `multipleOf`.
    public static let notMultipleOf = Self(rawValue: "not-multiple-of")
    /// A string is shorter than `minLength`.
    public static let tooShort = Self(rawValue: "too-short")
    /// A string is longer than `maxLength`.
    public static let tooLong = Self(rawValue: "too-long")
    /// `pattern` matches nowhere in a string.
    public static let patternMismatch = Self(rawValue: "pattern-mismatch")
    /// A value is none of those of `enum`.
    public static let notInEnum = Self(rawValue: "not-in-enum")
    /// An array has fewer elements than `minItems`.
    public static let tooFewItems = Self(rawValue: "too-few-items")
    /// An array has more elements than `maxItems`.
    public static let tooManyItems = Self(rawValue: "too-many-items")
    /// Two elements of an array are equal, against `uniqueItems`.
    public static let itemsNotUnique = Self(rawValue: "items-not-unique")
    /// An array has an element behind those that `items` lists, against `additionalItems`.
    public static let additionalItem = Self(rawValue: "additional-item")
    /// An object has fewer fields than `minProperties`.
    public static let tooFewProperties = Self(rawValue: "too-few-properties")
    /// An object has more fields than `maxProperties`.
    public static let tooManyProperties = Self(rawValue: "too-many-properties")
    /// A field is missing that another one asks for in `dependencies`.
    public static let dependencyMissing = Self(rawValue: "dependency-missing")
    /// An object does not fit the schema that one of its fields asks for in `dependencies`.
    public static let dependencySchema = Self(rawValue: "dependency-schema")
    /// A value does not fit one of the schemas of `allOf`.
    public static let allOf = Self(rawValue: "all-of")
    /// A value fits none of the schemas of `anyOf`.
    public static let anyOf = Self(rawValue: "any-of")
    /// A value fits none, or several, of the schemas of `oneOf`.
    public static let oneOf = Self(rawValue: "one-of")
    /// A value fits the schema of `not`.
    public static let not = Self(rawValue: "not")
    /// A value is not encrypted as `encrypt` asks.
    public static let encryptMismatch = Self(rawValue: "encrypt-mismatch")
}
