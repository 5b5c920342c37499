import BSON

/// Comparisons with a value that is known: exact as `same` is, and far shorter, since its types need not be asked for.
extension Expression {
    /// Whether the field at a path has exactly this value; `nil` stands for missing.
    ///
    /// `$eq` sees the names, their order, and everything but the types of numbers, the sign of a zero and the digits of
    /// decimals: those are compared one by one.
    static func isExactly(_ value: BSONValue?, at path: [String]) -> Expression {
        let field = Expression(.string("$" + path.joined(separator: ".")))
        guard let value else { return field.isMissing }
        return .all(
            [field.hasType(value.type.description), field == .constant(value)] + unseen(value, at: path, field))
    }

    /// What `$eq` does not see, for a field that is equal to `value`.
    private static func unseen(_ value: BSONValue, at path: [String], _ field: Expression) -> [Expression] {
        switch value {
        case .string: [.sameText(field, .constant(value))]
        case .double, .decimal: [text(field) == text(.constant(value))]
        case .object(let document): inner(document, at: path, field)
        case .array where value.holdsNumber: [.same(field, .constant(value))]
        default: []
        }
    }

    private static func inner(_ document: BSONDocument, at path: [String], _ field: Expression) -> [Expression] {
        guard BSONValue.object(document).holdsNumber else { return [] }
        guard let elements = try? document.elements(), Set(elements.map(\.name)).count == elements.count,
            elements.allSatisfy({ (try? FieldPath($0.name))?.components.count == 1 })
        else { return [.same(field, .constant(.object(document)))] }
        return elements.flatMap { name, value -> [Expression] in
            let place = path + [name]
            let member = Expression(.string("$" + place.joined(separator: ".")))
            switch value {
            case .int, .long: return [member.hasType(value.type.description)]
            case .double, .decimal: return [member.hasType(value.type.description)] + unseen(value, at: place, member)
            case .object, .array: return unseen(value, at: place, member)
            default: return []
            }
        }
    }

    private static func text(_ number: Expression) -> Expression { Expression(["$toString": number.bson]) }
}

extension BSONValue {
    /// Whether it is a number, or holds one.
    fileprivate var holdsNumber: Bool {
        switch self {
        case .int, .long, .double, .decimal: true
        case .object(let document), .array(let document): document.values.contains(where: \.holdsNumber)
        case .javascriptWithScope: true
        default: false
        }
    }
}
