package import BSON

/// New values for fields of one object: the document, or an element of a list or a dictionary.
package struct Assignment {
    /// The fields and their values; ``Expression/removed`` takes the field away.
    let writes: [(path: FieldPath, value: Expression)]

    /// Takes the fields and their values.
    package init(writes: [(path: FieldPath, value: Expression)]) { self.writes = writes }

    /// The new value of each outermost field.
    ///
    /// A dotted `$set` makes an object of whatever the parent is. Merging into the parent does not; that every parent
    /// **is** an object has to be known.
    package var fields: [(name: String, value: Expression)] {
        Self.fields(writes.map { ($0.path.components[...], $0.value) }, of: [])
    }

    /// The `$set` that writes them.
    package var specification: BSONDocument { BSONDocument(fields.map { ($0.name, $0.value.bson) }) }

    private typealias Write = (names: ArraySlice<String>, value: Expression)

    private static func fields(_ writes: [Write], of parent: [String]) -> [(name: String, value: Expression)] {
        var seen: Set<String> = []
        return writes.compactMap(\.names.first).filter { seen.insert($0).inserted }.map { name in
            let own = writes.filter { $0.names.first == name }
            if let whole = own.first(where: { $0.names.count == 1 }) { return (name, whole.value) }
            let path = parent + [name]
            let inner = fields(own.map { ($0.names.dropFirst(), $0.value) }, of: path)
            return (name, merged(inner, into: .field(FieldPath(trusted: path))))
        }
    }

    private static func merged(_ fields: [(name: String, value: Expression)], into object: Expression) -> Expression {
        let kept = fields.filter { $0.value != .removed }
        let base = fields.filter { $0.value == .removed }.reduce(object) { $0.without($1.name) }
        return kept.isEmpty
            ? base
            : .call("$mergeObjects", base, Expression(.object(BSONDocument(kept.map { ($0.name, $0.value.bson) }))))
    }
}

extension Expression {
    /// The object without a field; the others keep their order.
    ///
    /// `$unsetField` needs a server from 5.0 on.
    fileprivate func without(_ name: String) -> Expression {
        let isOther = !Expression.sameText(.variable("entry.k"), .constant(.string(name)))
        return Expression([
            "$arrayToObject": [
                "$filter": [
                    "input": ["$objectToArray": bson], "as": "entry", "cond": isOther.bson,
                ]
            ]
        ])
    }
}
