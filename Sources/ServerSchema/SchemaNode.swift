public import BSON

/// The schema of one value: a document, a field, an element of an array, or a value of a dictionary.
public struct SchemaNode: Sendable {
    /// The types that the value may have; empty if the schema names no type.
    ///
    /// For the root of an App Services schema, this is always `[.object]`, even if the file names no type.
    public var types: [SchemaType] = []
    /// The name of the object type, for a root or an embedded object; for a Prisma enum, the name of the enum.
    public var title: String?
    /// Whether the node stands for the embedded type named ``title``, whose fields are in ``CollectionSchema/types``.
    package internal(set) var isReference = false
    /// The fields that the keyword `properties` names, in the file's order.
    public var properties: [Property] = [] {
        didSet { indexes.properties = NameIndex(count: properties.count) }
    }
    /// Whether the schema has a `properties` keyword, even an empty one.
    public var hasProperties = false
    /// The names of the fields that an object must have, in the file's order.
    public var required: [String] = [] {
        didSet { indexes.required = NameIndex(count: required.count) }
    }
    /// The schema of all elements of an array, or the schemas of the elements by position.
    public var items: Items?
    /// Whether the elements of an array must differ from each other; in App Services, such an array is a set.
    public var uniqueItems = false
    /// The rule for fields that neither `properties` nor `patternProperties` describes.
    public var additionalProperties: AdditionalProperties = .allowed
    /// Whether the schema has an `additionalProperties` keyword.
    public var hasAdditionalProperties = false
    /// The scalar type in a Prisma schema; `nil` for an object or a list, and in other dialects.
    ///
    /// For an enum, it is `.string`, and the node also has a title.
    public var scalar: PrismaScalar?
    /// The value that clients return for a required field that is missing.
    public var defaultValue: BSONValue?
    /// The rules for the value for which the node has no other property.
    ///
    /// Most schemas have no such rules. The rules would take more memory than all other properties of a node, so a node
    /// allocates memory for them only when they are set.
    public var constraints: Constraints {
        get { rare?.constraints ?? Constraints() }
        set { rare = Rare(constraints: newValue, use: use, deprecation: deprecation) }
    }
    /// The use that a Prisma client makes of the field besides reading its type; empty in other dialects.
    package var use: Use {
        get { rare?.use ?? Use() }
        set {
            guard newValue != use else { return }
            rare = Rare(constraints: constraints, use: newValue, deprecation: deprecation)
        }
    }
    /// The `@deprecated` annotation of the property; `nil` if there is none.
    package var deprecation: Deprecation? {
        get { rare?.deprecation }
        set {
            guard newValue != deprecation else { return }
            rare = Rare(constraints: constraints, use: use, deprecation: newValue)
        }
    }
    /// The keywords that the reader knows but no rule evaluates, with their positions in the file.
    public var unevaluated: [(keyword: String, location: SourceLocation)] = []
    /// The position in the file at which the schema begins.
    public var location: SourceLocation

    private var rare: Rare?
    /// The indexes of long lists of names; `nil` for a short list.
    private var indexes: (properties: NameIndex?, required: NameIndex?) = (nil, nil)

    /// The properties that only few nodes have.
    private final class Rare: Sendable {
        let constraints: Constraints
        let use: Use
        let deprecation: Deprecation?

        init(constraints: Constraints, use: Use, deprecation: Deprecation?) {
            (self.constraints, self.use, self.deprecation) = (constraints, use, deprecation)
        }
    }

    /// The use that a Prisma client makes of a field besides reading its type.
    package struct Use: Hashable, Sendable {
        /// The name of the model whose keys the field holds, as `@relation` says; `nil` for any other field.
        package var keyOfModel: String?
        /// Whether a unique index has the field alone, as `@unique` or `@@unique` says.
        package var isUnique = false
        /// The function of `@default` by which clients fill the field when they write, such as `now`; `nil` if there is
        /// none.
        package var function: String?

        /// Creates the use of a field that only holds values.
        package init() {}
    }

    /// The largest number of levels of schemas inside each other that a file may have.
    ///
    /// A deeper schema is refused, because everything that uses schemas calls itself once for each level.
    package static let maximumDepth = 100

    /// The largest number of fields that the schemas in a file may have together, in any dialect.
    ///
    /// A field takes up to 1.5 KiB of memory until it is compiled, and so does a change of it.
    package static let mostFields = 21_000

    /// Creates an empty schema, which any value fits.
    public init(location: SourceLocation) { self.location = location }

    /// Returns the schema of a field; `nil` if `properties` does not name the field.
    public func property(_ name: String) -> SchemaNode? {
        properties.first(named: name, by: indexes.properties, \.name)?.node
    }

    /// Whether `required` names the field.
    public func requires(_ name: String) -> Bool {
        guard let index = indexes.required else { return required.contains(name) }
        return index.position(of: name, among: required) != nil
    }

    /// The names in `required` that are not in `properties`.
    var undefinedRequired: [String] { required.filter { property($0) == nil } }

    /// A field that the keyword `properties` names, with the schema of its value.
    public struct Property: Sendable {
        /// The field's name.
        public var name: String
        /// The schema of the field's value.
        public var node: SchemaNode
        /// The name that clients use for the field; `nil` if they use ``name``.
        public var clientName: String?

        /// Creates a field with the schema of its value.
        public init(name: String, node: SchemaNode) {
            self.name = name
            self.node = node
        }
    }

    /// The schema of the fields whose names match a regular expression.
    public struct PatternProperty: Sendable {
        /// The regular expression that the names of the fields match.
        public var pattern: String
        /// The schema that the value of each field with a matching name must fit.
        public var node: SchemaNode
    }

    /// The schema or schemas of an array's elements.
    public indirect enum Items: Sendable {
        /// All elements of the array have one schema.
        case each(SchemaNode)
        /// Each position in the array has its own schema.
        case tuple([SchemaNode])
    }

    /// The rule for fields that neither `properties` nor `patternProperties` describes.
    public indirect enum AdditionalProperties: Sendable {
        /// A field that neither `properties` nor `patternProperties` describes may have any value.
        case allowed
        /// An object must not have a field that neither `properties` nor `patternProperties` describes.
        case forbidden
        /// A field that neither `properties` nor `patternProperties` describes must fit the given schema.
        ///
        /// If the surrounding schema has no `properties`, it describes a dictionary.
        case schema(SchemaNode)
    }
}

extension SchemaNode {
    /// Returns a text that names the types that a value must have, such as `list of string`.
    /// - Parameter asRoot: whether the node is the root of a schema, which always describes an object.
    package func expectation(asRoot: Bool = false) -> String {
        if asRoot { return "object" }
        if let scalar { return prismaExpectation(scalar) }
        if types.isEmpty, let allowed = constraints.allowedValues { return "one of \(allowed.count) values" }
        guard !types.isEmpty else { return "any value" }
        return types.map(expectation).joined(separator: " or ")
    }

    private func expectation(_ type: SchemaType) -> String {
        switch type {
        case .array:
            let name = uniqueItems ? "set" : "list"
            guard case .each(let element) = items else { return "array" }
            return "\(name) of \(element.expectation())"
        case .object:
            if !isDictionary { return title.map { "embedded \($0)" } ?? "embedded object" }
            guard case .schema(let value) = additionalProperties else { return "dictionary" }
            return "dictionary of \(value.expectation())"
        default: return type.rawValue
        }
    }
}

/// The kinds of client values that a schema can describe, such as lists and dictionaries.
///
/// Source: `semantics.md` section 3.3 of the project's reference.
extension SchemaNode {
    /// Whether the value must be an object.
    public var isObject: Bool { types == [.object] }

    /// Whether the schema describes a dictionary: an object whose fields may have any names.
    ///
    /// The schema of a dictionary names no property, and has `additionalProperties` with a value other than false.
    public var isDictionary: Bool {
        guard isObject, properties.isEmpty, hasAdditionalProperties else { return false }
        if case .forbidden = additionalProperties { return false }
        return true
    }

    /// Whether the schema describes an embedded object.
    public var isEmbedded: Bool { isObject && !isDictionary }

    /// Whether the schema describes a set: an array whose elements differ from each other.
    public var isSet: Bool { types == [.array] && uniqueItems }

    /// Whether the schema describes a list: an array whose elements may be equal to each other.
    public var isList: Bool { types == [.array] && !uniqueItems }

    /// The schema of a dictionary's values; `nil` if they may have any value, or if this is not a dictionary.
    public var dictionaryValue: SchemaNode? {
        guard isDictionary, case .schema(let node) = additionalProperties else { return nil }
        return node
    }
}

extension SchemaNode {
    /// Returns the schema at a path of field names that begins at this node; `nil` if there is no schema for that path.
    ///
    /// `[]` or a number leads into the elements of an array; `{}` or any name leads into the values of a dictionary.
    public func node(at path: some Collection<String>) -> SchemaNode? {
        guard let first = path.first else { return self }
        return child(first)?.node(at: path.dropFirst())
    }

    /// Returns the schema at a path that begins at this node; `nil` if there is no schema for that path.
    package func node(at path: SchemaPath) -> SchemaNode? {
        node(
            at: path.steps.map { step in
                switch step {
                case .field(let name): name
                case .elements: "[]"
                case .values: "{}"
                }
            })
    }

    private func child(_ step: String) -> SchemaNode? {
        if let node = property(step) { return node }
        switch items {
        case .each(let node) where step == "[]" || Int(step) != nil: return node
        case .tuple(let nodes): return Int(step).flatMap { nodes.indices.contains($0) ? nodes[$0] : nil }
        default: return dictionaryValue
        }
    }
}
