package import BSON

/// New values for fields of one object, which is the document or an element of a list or a dictionary.
package struct Assignment {
    /// The fields and their new values; ``Expression/removed`` removes a field.
    let writes: [(path: FieldPath, value: Expression)]

    package init(writes: [(path: FieldPath, value: Expression)]) { self.writes = writes }

    /// The new value of each field at the top level of the object.
    ///
    /// A write to a nested field writes the whole parent: the fields that the parent has now, with the new value added.
    /// This fails if the parent is not an object, so the caller must make sure that every parent is an object.
    package var fields: [(name: String, value: Expression)] {
        Self.fields(writes.map { ($0.path.components[...], $0.value) }, of: [])
    }

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
