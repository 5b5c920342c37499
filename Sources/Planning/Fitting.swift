import BSON
import Checking
import ServerSchema

extension SchemaNode {
    /// Whether the value fits a required field with this schema.
    ///
    /// A value also fits if a check only warns about it.
    func takes(_ value: BSONValue, in dialect: Dialect) -> Bool {
        var root = SchemaNode(location: location)
        root.types = [.object]
        root.hasProperties = true
        root.properties = [Property(name: "value", node: self)]
        root.required = ["value"]
        var collection = CollectionSchema(namespace: Namespace(database: "none", collection: "none"), root: root)
        collection.dialect = dialect
        let document: BSONDocument = ["value": value]
        return (try? CompiledSchema(collection).check(document.view) <= .warning) ?? false
    }

    var withoutNull: SchemaNode {
        var node = self
        if node.types.count > 1 { node.types.removeAll { $0 == .null } }
        return node
    }
}

extension BSONValue {
    /// Returns the value in the form in which a job file contains it.
    ///
    /// If the schema declares a single type, a job converts a number in its file to that type. A `long` that fits into
    /// an `int` is therefore written as an `int`, and the decimal 0 as 0.
    func spelled(for node: SchemaNode) -> BSONValue {
        guard node.types.count == 1 else { return self }
        switch self {
        case .long(let number): return Int32(exactly: number).map { .int($0) } ?? self
        case .decimal(Decimal128(0)): return 0
        default: return self
        }
    }
}

extension SchemaNode {
    /// The zero value that clients fill in for a missing value; `nil` if the user has to choose a value.
    ///
    /// An `objectId` or a `uuid` never has a zero value. Source: `semantics.md`, section 9 of the project's reference.
    var zeroValue: BSONValue? {
        let node = withoutNull
        if node.isDictionary { return [:] }
        guard node.types.count == 1 else { return .none }
        return switch node.types[0] {
        case .int: 0
        case .long: .long(0)
        case .double: 0.0
        case .decimal: .decimal(Decimal128(0))
        case .string: ""
        case .bool: false
        case .date: .date(milliseconds: 0)
        case .binData: .binary(subtype: 0, bytes: [])
        case .array: []
        default: .none
        }
    }

    /// Returns an embedded object with the default or the zero value of each required field; `nil` if a field has
    /// neither, or if the schema does not describe an embedded object.
    func zeroObject(in dialect: Dialect) -> BSONValue? {
        guard withoutNull.isEmbedded else { return .none }
        var members: [(String, BSONValue)] = []
        for name in required {
            guard let field = property(name), let value = field.usableDefault ?? field.zeroValue else { return .none }
            members.append((name, value))
        }
        return .object(BSONDocument(members))
    }
}
