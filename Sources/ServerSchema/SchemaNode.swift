public import BSON

/// What a schema demands of one value: the root document, a field, an element, or a dictionary's value.
public struct SchemaNode: Sendable {
    /// The types that the value may have; empty when the schema names none.
    ///
    /// A root is always an object, and says so here also when its file does not.
    public var types: [SchemaType] = []
    /// The name of the object type, for a root or an embedded object.
    public var title: String?
    /// The named fields, in the file's order.
    public var properties: [Property] = [] {
        didSet { propertyIndex = NameIndex(count: properties.count) }
    }
    /// Whether the schema has a `properties` keyword, be it empty.
    public var hasProperties = false
    /// The names of the fields that must be there, in the file's order.
    public var required: [String] = [] {
        didSet { requiredIndex = NameIndex(count: required.count) }
    }
    /// What the elements of an array must be.
    public var items: Items?
    /// Whether an array's elements must differ: in an App Services schema, a set.
    public var uniqueItems = false
    /// What fields that `properties` does not name must be.
    public var additionalProperties: AdditionalProperties = .allowed
    /// Whether the schema has an `additionalProperties` keyword.
    public var hasAdditionalProperties = false
    /// The value that clients see when a required field is absent.
    public var defaultValue: BSONValue?
    /// What is demanded beside types and fields.
    ///
    /// Most schemas demand nothing, and the demands take more room than all else: those without any have none of their own.
    public var constraints: Constraints {
        get { demands?.constraints ?? Constraints() }
        set { demands = Demands(newValue) }
    }
    /// Keywords that the reader knows but that no rule evaluates yet, with their places.
    public var unevaluated: [(keyword: String, location: SourceLocation)] = []
    /// Where the schema begins.
    public var location: SourceLocation

    private var demands: Demands?
    private var propertyIndex: NameIndex?
    private var requiredIndex: NameIndex?

    private final class Demands: Sendable {
        let constraints: Constraints

        init(_ constraints: Constraints) { self.constraints = constraints }
    }

    /// An empty schema, that any value fits.
    public init(location: SourceLocation) { self.location = location }

    /// The named field; `nil` when `properties` does not name it.
    public func property(_ name: String) -> SchemaNode? {
        let position =
            if let propertyIndex {
                propertyIndex.position(of: name, among: properties.lazy.map(\.name))
            } else {
                properties.firstIndex { $0.name == name }
            }
        return position.map { properties[$0].node }
    }

    /// Whether the field must be there.
    public func requires(_ name: String) -> Bool {
        guard let requiredIndex else { return required.contains(name) }
        return requiredIndex.position(of: name, among: required) != nil
    }

    /// A named field.
    public struct Property: Sendable {
        /// The field's name.
        public var name: String
        /// What its value must be.
        public var node: SchemaNode

        /// Names a field.
        public init(name: String, node: SchemaNode) {
            self.name = name
            self.node = node
        }
    }

    /// What the elements of an array must be.
    public indirect enum Items: Sendable {
        /// All of them the same.
        case each(SchemaNode)
        /// Each by its position.
        case tuple([SchemaNode])
    }

    /// What the fields that `properties` does not name must be.
    public indirect enum AdditionalProperties: Sendable {
        /// Anything.
        case allowed
        /// Absent.
        case forbidden
        /// Values of this schema: without `properties`, that is a dictionary.
        case schema(SchemaNode)
    }
}
