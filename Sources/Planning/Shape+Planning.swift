import BSON
import Jobs
import SchemaChange
import ServerSchema

extension Shape {
    /// Creates the shape by which the planner chooses steps for a value of this schema.
    ///
    /// If the schema allows null besides other types, null is ignored.
    init(ofValue node: SchemaNode) { self.init(node.withoutNull) }

    /// Whether the shape is an array: a list or a set.
    var isArray: Bool { self == .list || self == .set }
}

extension SchemaNode {
    /// The schema of every element of an array, or of every value of a dictionary; `nil` if there is no such schema.
    var inner: SchemaNode? {
        if case .each(let element)? = items { return element }
        return withoutNull.dictionaryValue
    }

    /// Whether the schema describes each element of an array by its position.
    var isTuple: Bool { if case .tuple? = items { true } else { false } }

    /// Whether null fits the schema in an optional field.
    ///
    /// Whether the field is optional is not checked here.
    func takesNull(in dialect: Dialect) -> Bool {
        dialect != .jsonSchema || types.isEmpty || types.contains(.null) || types.contains(.mixed)
    }

    /// The default value that clients use for a missing field; `nil` if there is none, or if it is null.
    var usableDefault: BSONValue? { defaultValue == .null ? nil : defaultValue }
}

extension SchemaPath {
    /// The path as job files write it, with `[]` for elements and values; `nil` if a job file cannot name it.
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
        return names.isEmpty ? nil : FieldPath(trusted: names).description
    }

    /// The path of the object, list or dictionary around the value.
    var holder: SchemaPath { SchemaPath(Array(steps.dropLast())) }

    /// Whether the other path equals this path, or begins with it.
    func isPrefix(of other: SchemaPath) -> Bool { other.steps.starts(with: steps) }
}

extension String {
    /// The names in a path as job files write it.
    var namesOfJobPath: [String] { (try? FieldPath(self))?.components ?? [] }
}
