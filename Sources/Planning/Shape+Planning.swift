import BSON
import Jobs
import SchemaChange
import ServerSchema

extension Shape {
    /// Creates the shape of a value for the steps that convert it; null as an additional type is handled separately.
    init(ofValue node: SchemaNode) { self.init(node.withoutNull) }

    /// Whether it is an array.
    var isArray: Bool { self == .list || self == .set }
}

extension SchemaNode {
    /// The schema of every element of an array, or of every value of a dictionary; `nil` if it does not describe them.
    var inner: SchemaNode? {
        if case .each(let element)? = items { return element }
        return withoutNull.dictionaryValue
    }

    /// Whether an array's elements are described one by one.
    var isTuple: Bool { if case .tuple? = items { true } else { false } }

    /// Whether null fits if the field is optional.
    func takesNull(in dialect: Dialect) -> Bool {
        dialect == .appServices || types.isEmpty || types.contains(.null) || types.contains(.mixed)
    }

    /// The default that clients use; a default of null counts as none.
    var usableDefault: BSONValue? { defaultValue == .null ? nil : defaultValue }
}

extension SchemaPath {
    /// The path as a job spells it, with `[]` for elements and values; `nil` if a job cannot name it.
    var jobPath: String? {
        var names: [String] = []
        for step in steps {
            switch step {
            case .field(let name):
                guard (try? FieldPath(name))?.components == [name], name != FieldPath.each else { return nil }
                names.append(name)
            case .elements, .values: names.append(FieldPath.each)
            }
        }
        return names.isEmpty ? nil : names.joined(separator: ".")
    }

    /// Whether the other path is this place or is inside it.
    func isPrefix(of other: SchemaPath) -> Bool { other.steps.starts(with: steps) }
}
