package import BSON
package import ServerSchema

/// One thing that a job does to each document that needs it.
package enum Step: Hashable, Sendable {
    /// Fills a field that is not there.
    case `default`(field: FieldPath, value: BSONValue, nullsToo: Bool)
    /// Gives a second field the value of a first.
    case copy(from: FieldPath, to: FieldPath)
    /// Changes a field's type, in place or into a second field.
    case convert(field: FieldPath, to: SchemaType, into: FieldPath?)

    /// The field that the step writes.
    package var target: FieldPath {
        switch self {
        case .default(let field, _, _): field
        case .copy(_, let to): to
        case .convert(let field, _, let into): into ?? field
        }
    }

    /// The field that the step reads besides its target.
    package var source: FieldPath? {
        switch self {
        case .default: nil
        case .copy(let from, _): from
        case .convert(let field, _, let into): into == nil ? nil : field
        }
    }
}

extension Step: CustomStringConvertible {
    /// The step in a line, without the value that a `default` writes.
    package var description: String {
        switch self {
        case .default(let field, let value, let nullsToo):
            "default \(field): a value of type \(value.type) where missing\(nullsToo ? " or null" : "")"
        case .copy(let from, let to): "copy \(from) to \(to)"
        case .convert(let field, let type, let into):
            "convert \(field) to \(type.rawValue)" + (into.map { " into \($0)" } ?? "")
        }
    }
}
