package import BSON

/// Exact comparisons with values that are known when the expression is built.
///
/// Objects are compared exactly at every depth, unlike with ``Expression/same(_:_:)``. The exceptions are arrays,
/// objects with a repeated name, and objects with a name that no path can contain: these are compared by `same` if they
/// hold values that `$eq` does not compare exactly. Texts are compared by their bytes, even if they are not UTF-8.
extension Expression {
    /// Returns the conditions under which the top-level fields `names` equal the same fields of `document`.
    ///
    /// A field that `document` lacks must be missing.
    /// - Parameter isBinary: whether the command compares texts by their bytes, and not by a collation of the
    ///   collection. The conditions on arrays are then shorter, and the server evaluates them faster.
    /// - Throws: ``BSONError`` when the document is damaged.
    package static func areExactly(
        _ names: [String], asIn document: BSONDocument, isBinary: Bool = false
    ) throws(BSONError) -> [Expression] {
        let view = document.view
        var conditions: [Expression] = []
        for name in names {
            if let element = try view.find(name) {
                if isBinary, let facts = try arrayFacts(of: element, in: view, at: name) {
                    conditions += facts
                } else {
                    conditions += try isExactly(element, of: view, at: name)
                }
            } else {
                conditions.append(Expression(.string("$" + name)).isMissing)
            }
        }
        return conditions
    }

    /// Returns the condition under which a document has the same value in the top-level field `name` as its entry in
    /// `documents`.
    ///
    /// The entry is the one with the document's `_id`. The condition is false if there is no such entry, or if the
    /// entry lacks the field.
    /// - Throws: ``BSONError`` when a document is damaged.
    package static func isExactly(
        _ name: String, asIn documents: [(id: BSONValue, fields: BSONDocument)]
    ) throws(BSONError) -> Expression {
        var ids: [BSONValue] = []
        var values = BSONBuilder()
        var areSimple = true
        var levels = 0
        for (id, fields) in documents {
            let view = fields.view
            guard let element = try view.find(name) else { continue }
            values.append("\(ids.count)", element, of: view)
            ids.append(id)
            areSimple = areSimple && element.isSimple
            levels = max(levels, try view.levels(of: element))
        }
        // The server builds a lookup table for the constant list once per command, so it finds each `_id` quickly.
        let place = Expression(["$indexOfArray": [["$literal": .array(of: ids)], "$_id"]])
        let value = Expression.call(
            "$arrayElemAt", Expression(["$literal": .array(values.finish())]), .variable("place"))
        let field = Expression(.string("$" + name))
        return .let(
            ["place": place],
            in: .all([
                Expression(["$gte": ["$$place", 0]]),
                areSimple ? .sameSimple(field, value) : .same(field, value, levels: levels),
            ]))
    }

    /// Returns the condition under which the whole document equals the given one.
    /// - Throws: ``BSONError`` when the document is damaged.
    package static func isExactly(_ document: BSONDocument) throws(BSONError) -> Expression {
        // `$$ROOT` alone does not work here: when mongod 4.4 rewrites the comparison, it takes the variable for a path,
        // and refuses it (error code 16409).
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
        // For a text, it is enough to compare the bytes. A comparison by `$eq` would put a long text into the command
        // twice.
        if element.type == .string { return unseen }
        return [field.hasType(element.type.description), field == literal(element, of: view)] + unseen
    }

    /// Returns conditions that distinguish the element's value from other values that `$eq` finds equal to it.
    ///
    /// `$eq` ignores, for example, the types of numbers, the sign of a zero, the digits of decimals, and differences
    /// between texts that the collection's collation ignores.
    private static func unseen(
        _ element: BSONElement, of view: borrowing BSONView, at path: String
    ) throws(BSONError) -> [Expression] {
        let field = Expression(.string("$" + path))
        let hasType = field.hasType(element.type.description)
        switch element.type {
        case .int, .long, .symbol: return [hasType]
        case .double, .decimal: return [hasType, text(field) == text(literal(element, of: view))]
        case .string:
            // The value's bytes include 4 bytes for the length and a NUL at the end, which are not part of the text.
            let length = element.valueLength - 5
            return [
                hasType, Expression(["$strLenBytes": field.bson]) == .constant(.integer(length)),
                .call("$indexOfBytes", field, literal(element, of: view)) == .constant(0),
            ]
        case .object:
            if let conditions = try inside(try view.document(element), at: path) { return conditions }
            return [try sameDeeply(field, element, of: view)]
        case .array:
            return try view.document(element).holdsUnseen() ? [try sameDeeply(field, element, of: view)] : []
        case .javascriptWithScope:
            return [
                Expression(["$bsonSize": ["v": field.bson]])
                    == Expression(["$bsonSize": ["v": literal(element, of: view).bson]])
            ]
        default: return []
        }
    }

    private static func sameDeeply(
        _ field: Expression, _ element: BSONElement, of view: borrowing BSONView
    ) throws(BSONError) -> Expression {
        .same(field, literal(element, of: view), levels: try view.levels(of: element))
    }

    /// Returns the conditions that ``unseen(_:of:at:)`` returns for the fields of an object; `nil` if the object has a
    /// field name twice, or a name that cannot be part of a path.
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

    /// Returns the conditions under which the top-level field `name` equals the array `element`; `nil` if `element` is
    /// no array, or if ``ElementFacts`` does not cover it.
    private static func arrayFacts(
        of element: BSONElement, in view: borrowing BSONView, at name: String
    ) throws(BSONError) -> [Expression]? {
        guard element.type == .array, case .array(let array) = try view.value(element),
            let facts = try ElementFacts.list(array)
        else { return nil }
        let field = Expression(.string("$" + name))
        let known = literal(element, of: view)
        let isEqual = [field.hasType("array"), field == known]
        return facts.isEmpty ? isEqual : isEqual + [facts.read(from: field) == facts.read(from: known)]
    }

    /// Returns the element's value as a literal, byte for byte as it is stored.
    private static func literal(_ element: BSONElement, of view: borrowing BSONView) -> Expression {
        var builder = BSONBuilder()
        builder.append("$literal", element, of: view)
        return Expression(.object(builder.finish()))
    }

    private static func text(_ number: Expression) -> Expression { Expression(["$toString": number.bson]) }
}

extension BSONElement {
    /// Whether ``Expression/sameSimple(_:_:)`` compares the value exactly.
    package var isSimple: Bool {
        switch type {
        case .string, .int, .long, .bool, .date, .objectId, .null: true
        default: false
        }
    }
}

extension BSONView {
    /// Returns the number of levels of objects and arrays in a value: 0 for a scalar, 1 for an array of scalars.
    fileprivate func levels(of element: BSONElement) throws(BSONError) -> Int {
        guard element.type == .object || element.type == .array else { return 0 }
        let inner = try document(element)
        var (deepest, position) = (0, inner.firstPosition)
        while let item = try inner.next(&position) { deepest = max(deepest, try inner.levels(of: item)) }
        return deepest + 1
    }

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
