package import BSON

/// Comparisons with values that are known: exact as ``Expression/same(_:_:)`` is and deeper, and far shorter, since their
/// types need not be asked for.
///
/// The values are taken as they stand on the wire: a text that is not UTF-8 is compared by its bytes.
extension Expression {
    /// Whether these fields of the document itself are what they are in `document`: those that it lacks are missing.
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

    /// Whether the whole document is this one.
    /// - Throws: ``BSONError`` when the document is damaged.
    package static func isExactly(_ document: BSONDocument) throws(BSONError) -> Expression {
        // Not the variable alone: mongod 4.4 takes it for a path when it rewrites a comparison, and refuses that (16409).
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
        // The bytes of a text say it all, and a long one stands in the command only once.
        if element.type == .string { return unseen }
        return [field.hasType(element.type.description), field == literal(element, of: view)] + unseen
    }

    /// What `$eq` does not see of a field that is equal to the element: types of numbers, the sign of a zero, the digits
    /// of decimals, and what the collection's collation takes for the same text.
    private static func unseen(
        _ element: BSONElement, of view: borrowing BSONView, at path: String
    ) throws(BSONError) -> [Expression] {
        let field = Expression(.string("$" + path))
        let hasType = field.hasType(element.type.description)
        switch element.type {
        case .int, .long, .symbol: return [hasType]
        case .double, .decimal: return [hasType, text(field) == text(literal(element, of: view))]
        case .string:
            // Its length field counts a NUL at the end.
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

    /// What `$eq` does not see inside of an object; `nil` where a path cannot lead to each of its fields.
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

    /// The element's value as it stands on the wire.
    private static func literal(_ element: BSONElement, of view: borrowing BSONView) -> Expression {
        var builder = BSONBuilder()
        builder.append("$literal", element, of: view)
        return Expression(.object(builder.finish()))
    }

    private static func text(_ number: Expression) -> Expression { Expression(["$toString": number.bson]) }
}

extension BSONView {
    /// Whether there is anything in it that `$eq` does not compare exactly.
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
