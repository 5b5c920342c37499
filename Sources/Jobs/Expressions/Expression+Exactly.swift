package import BSON

/// Exact comparisons with known values. They go deeper than ``Expression/same(_:_:)`` and are far shorter, because
/// they need not ask for the types.
///
/// The values are compared as they are on the wire: a text that is not UTF-8 is compared by its bytes.
extension Expression {
    /// Returns the conditions for top-level fields to equal those of `document`; fields that it lacks must be missing.
    /// - Throws: ``BSONError`` when the document is damaged.
    package static func areExactly(_ names: [String], asIn document: BSONDocument) throws(BSONError) -> [Expression] {
        let view = document.view
        var conditions: [Expression] = []
        for name in names {
            if let element = try view.find(name) {
                conditions += try isExactly(element, of: view, at: name)
            } else {
                conditions.append(Expression(.string("$" + name)).isMissing)
            }
        }
        return conditions
    }

    /// Returns the condition for the whole document to equal this one.
    /// - Throws: ``BSONError`` when the document is damaged.
    package static func isExactly(_ document: BSONDocument) throws(BSONError) -> Expression {
        // The variable alone does not do: mongod 4.4 takes it for a path in a rewritten comparison, and refuses it
        // (16409).
        let root = Expression(["$ifNull": [Expression.variable("ROOT").bson, nil]])
        let literal = Expression.constant(.object(document))
        guard let inner = try inside(document.view, at: nil) else { return .same(root, literal) }
        return .all([root == literal] + inner)
    }

    private static func isExactly(
        _ element: BSONElement, of view: borrowing BSONView, at path: String
    ) throws(BSONError) -> [Expression] {
        let field = Expression(.string("$" + path))
        let unseen = try unseen(element, of: view, at: path)
        // The bytes of a text are enough, and a long text should be in the command only once.
        if element.type == .string { return unseen }
        return [field.hasType(element.type.description), field == literal(element, of: view)] + unseen
    }

    /// Returns the conditions that `$eq` misses in a field that is equal to the element: types of numbers, the sign of
    /// a zero, the digits of decimals, and texts that the collection's collation takes for the same.
    private static func unseen(
        _ element: BSONElement, of view: borrowing BSONView, at path: String
    ) throws(BSONError) -> [Expression] {
        let field = Expression(.string("$" + path))
        let hasType = field.hasType(element.type.description)
        switch element.type {
        case .int, .long, .symbol: return [hasType]
        case .double, .decimal: return [hasType, text(field) == text(literal(element, of: view))]
        case .string:
            // The value also has 4 bytes for its length, and a NUL at the end.
            let length = element.valueLength - 5
            return [
                hasType, Expression(["$strLenBytes": field.bson]) == .constant(.integer(length)),
                .call("$indexOfBytes", field, literal(element, of: view)) == .constant(0),
            ]
        case .object:
            return try inside(try view.document(element), at: path) ?? [.same(field, literal(element, of: view))]
        case .array:
            return try view.document(element).holdsUnseen() ? [.same(field, literal(element, of: view))] : []
        case .javascriptWithScope:
            return [
                Expression(["$bsonSize": ["v": field.bson]])
                    == Expression(["$bsonSize": ["v": literal(element, of: view).bson]])
            ]
        default: return []
        }
    }

    /// Returns the conditions that `$eq` misses inside an object; `nil` if a path cannot lead to each of its fields.
    private static func inside(
        _ object: borrowing BSONView, at path: String?
    ) throws(BSONError) -> [Expression]? {
        guard try object.holdsUnseen() else { return [] }
        var names: Set<[UInt8]> = []
        var conditions: [Expression] = []
        var position = object.firstPosition
        while let element = try object.next(&position) {
            let name = object.name(element)
            guard names.insert(object.nameBytes(element).copied()).inserted,
                object.nameBytes(element).isEqual(to: name),
                (try? FieldPath(name))?.components.count == 1 || (path == nil && name == "_id")
            else { return nil }
            conditions += try unseen(element, of: object, at: path.map { "\($0).\(name)" } ?? name)
        }
        return conditions
    }

    /// Returns the element's value as it is on the wire.
    private static func literal(_ element: BSONElement, of view: borrowing BSONView) -> Expression {
        var builder = BSONBuilder()
        builder.append("$literal", element, of: view)
        return Expression(.object(builder.finish()))
    }

    private static func text(_ number: Expression) -> Expression { Expression(["$toString": number.bson]) }
}

extension BSONView {
    /// Whether the document holds anything that `$eq` does not compare exactly.
    fileprivate func holdsUnseen() throws(BSONError) -> Bool {
        var position = firstPosition
        while let element = try next(&position) {
            switch element.type {
            case .int, .long, .double, .decimal, .string, .symbol, .javascriptWithScope: return true
            case .object, .array:
                if try document(element).holdsUnseen() { return true }
            default: break
            }
        }
        return false
    }
}
