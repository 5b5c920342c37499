import BSON
import Checking
import ServerSchema

extension SchemaNode {
    static let nowhere = SourceLocation(file: "schema.json", line: 1, column: 1)

    /// Returns the schema of a value with one of these types.
    static func of(_ types: SchemaType..., default value: BSONValue? = nil) -> SchemaNode {
        var node = SchemaNode(location: nowhere)
        node.types = types
        node.defaultValue = value
        return node
    }

    static func list(_ element: SchemaNode) -> SchemaNode {
        var node = of(.array)
        node.items = .each(element)
        return node
    }

    static func set(_ element: SchemaNode) -> SchemaNode {
        var node = list(element)
        node.uniqueItems = true
        return node
    }

    static func tuple(_ elements: SchemaNode...) -> SchemaNode {
        var node = of(.array)
        node.items = .tuple(elements)
        return node
    }

    static func dictionary(_ value: SchemaNode) -> SchemaNode {
        var node = of(.object)
        node.hasAdditionalProperties = true
        node.additionalProperties = .schema(value)
        return node
    }

    static func object(
        _ properties: KeyValuePairs<String, SchemaNode>, required: [String] = [], title: String? = nil
    ) -> SchemaNode {
        var node = of(.object)
        node.title = title
        node.hasProperties = true
        node.properties = properties.map { Property(name: $0.key, node: $0.value) }
        node.required = required
        return node
    }

    func with(_ change: (inout SchemaNode) -> Void) -> SchemaNode {
        var node = self
        change(&node)
        return node
    }
}

extension CompiledSchema {
    /// Compiles a root with these properties; an `_id` of type int is added if there is none.
    init(
        _ properties: KeyValuePairs<String, SchemaNode>, required: [String] = [],
        options: CheckOptions = CheckOptions(), change: (inout SchemaNode) -> Void = { _ in }
    ) {
        var root = SchemaNode.object(properties, required: required, title: "Person")
        if !properties.contains(where: { $0.key == "_id" }) {
            root.properties.insert(.init(name: "_id", node: .of(.int)), at: 0)
        }
        change(&root)
        self.init(root: root, options: options)
    }

    init(root: SchemaNode, options: CheckOptions = CheckOptions()) {
        let namespace = Namespace(database: "app", collection: "Person")
        self.init(CollectionSchema(namespace: namespace, root: root), options: options)
    }

    /// Returns every finding about a document, as `code level path: expected / found`.
    func findings(_ document: BSONDocument) throws -> [String] {
        try violations(in: document.view, includingInfo: true).map {
            "\($0.rule) \($0.level) \($0.path): \($0.expected) / \($0.found)"
        }
    }

    func verdict(_ document: BSONDocument) throws -> Verdict { try check(document.view) }
}

extension BSONValue {
    static func decimal(coefficient: UInt64, exponent: Int, isNegative: Bool = false) -> BSONValue {
        let sign: UInt64 = isNegative ? 1 << 63 : 0
        return .decimal(Decimal128(high: sign | UInt64(exponent + 6176) << 49, low: coefficient))
    }

    static let decimalNaN = BSONValue.decimal(Decimal128(high: 0x1F << 58, low: 0))
    static let decimalInfinity = BSONValue.decimal(Decimal128(high: 0x1E << 58, low: 0))
    static func uuid(_ byte: UInt8 = 7) -> BSONValue { .binary(subtype: 4, bytes: Array(repeating: byte, count: 16)) }
}
