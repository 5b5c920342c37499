import BSON
import Jobs
import SchemaChange
import ServerSchema

extension Shape {
    /// What a value is to the steps that make another of it: null beside another type is looked at apart.
    init(ofValue node: SchemaNode) { self.init(node.withoutNull) }

    /// Whether it is an array.
    var isArray: Bool { self == .list || self == .set }
}

extension SchemaNode {
    /// The schema of every element of an array, or of every value of a dictionary; `nil` where it says nothing of them.
    var inner: SchemaNode? {
        if case .each(let element)? = items { return element }
        return withoutNull.dictionaryValue
    }

    /// Whether an array's elements are described one by one.
    var isTuple: Bool { if case .tuple? = items { true } else { false } }

    /// Whether null fits, where the field need not be there.
    func takesNull(in dialect: Dialect) -> Bool {
        dialect == .appServices || types.isEmpty || types.contains(.null) || types.contains(.mixed)
    }

    /// The default that clients see; one of null counts as none.
    var usableDefault: BSONValue? { defaultValue == .null ? nil : defaultValue }
}

extension SchemaPath {
    /// The path as a job spells it: `[]` leads into elements and values; `nil` where a job cannot name it.
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

    /// Whether the other is this place or stands inside it.
    func isPrefix(of other: SchemaPath) -> Bool { other.steps.starts(with: steps) }
}
