import BSON
import ServerSchema

/// Whether a step can make a document unsyncable under a schema, told from the schema alone.
///
/// The reasoning is about documents that sync: one that fails already is no new harm. Only what is certain counts, so
/// `false` means "cannot be told", and the documents themselves are asked.
enum Harmlessness {
    static func holds(_ step: Step, under schema: SchemaNode) -> Bool {
        guard let target = schema.property(at: step.target) else {
            // Sync ignores a field that the schema does not declare, where its parent takes further fields.
            return schema.takesFurtherFields(below: step.target)
        }
        guard target.types.count == 1, let declared = target.types.first else { return false }
        switch step {
        case .default(_, let value, _):
            // The field was missing or null, and becomes a scalar of its declared type.
            return value.isScalar && StepFitting.fit(value, to: declared) == value
        case .copy(let from, _):
            guard let source = schema.property(at: from) else { return false }
            // A document that syncs holds the same scalar type there, or null where that is allowed.
            return source.types == target.types && declared.isScalar && !(schema.requires(step.target))
        case .convert(_, let to, _):
            // What fits is of the declared type already, and so is not converted.
            return declared == to
        }
    }
}

extension SchemaNode {
    func takesFurtherFields(below path: FieldPath) -> Bool {
        var node = self
        for name in path.components.dropLast() {
            guard let child = node.properties.first(where: { $0.name == name }) else {
                // Below a field that is not declared nothing is judged; below a dictionary every value is.
                return node.isOpen
            }
            node = child.node
        }
        return node.isOpen
    }

    private var isOpen: Bool {
        if case .allowed = additionalProperties { types.isEmpty || types.contains(.object) } else { false }
    }

    func requires(_ path: FieldPath) -> Bool {
        var node = self
        for name in path.components.dropLast() {
            guard let child = node.properties.first(where: { $0.name == name }) else { return false }
            node = child.node
        }
        return path.components.last.map(node.required.contains) ?? false
    }
}

extension SchemaType {
    var isScalar: Bool {
        switch self {
        case .object, .array, .mixed, .number: false
        default: true
        }
    }
}

extension BSONValue {
    var isScalar: Bool { type != .object && type != .array && type != .null && type != .undefined }
}
