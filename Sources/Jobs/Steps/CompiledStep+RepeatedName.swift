import BSON

/// Documents in which a field name stands twice.
extension CompiledStep {
    /// Whether a name stands twice in the document, in an object that one of the steps merges into, or anywhere in a
    /// value that one of them looks into.
    ///
    /// Merging an object keeps one of each name, and so makes it smaller where one stood twice. Looking into one is enough
    /// for mongod 6.0 to write both names with the value of the first.
    static func repeatedName(in steps: [Step]) -> Expression {
        var seen: Set<FieldPath> = []
        let parents = steps.flatMap { ($0.targets + $0.sources).flatMap(\.givenBack) }
        let merged = parents.filter { seen.insert($0).inserted }.map { parent in
            Expression.inSomeElement(
                of: parent.containers,
                .all([parent.isReachable, Expression.field(parent).hasType("object"), .shrinks(.field(parent))]))
        }
        seen = []
        let seenInto = steps.flatMap(\.kind.looksInto).filter { seen.insert($0).inserted }.map { path in
            Expression.inSomeElement(
                of: path.containers,
                .all([
                    path.isReachable, Expression.field(path).hasType("object", "array"),
                    .repeatsName(.field(path), levels: Expression.exactLevels),
                ]))
        }
        return .any([.shrinks(.variable("ROOT"))] + merged + seenInto)
    }
}

extension Expression {
    fileprivate static func shrinks(_ object: Expression) -> Expression {
        !(Expression(["$bsonSize": object.bson]) == Expression(["$bsonSize": ["$mergeObjects": [object.bson]]]))
    }

    /// Whether a name stands twice in an object or a list, as far down as so many levels.
    fileprivate static func repeatsName(_ value: Expression, levels: Int) -> Expression {
        let node = Expression.variable("node")
        let inner =
            levels == 0
            ? []
            : [
                Expression.call(
                    "$anyElementTrue",
                    .call(
                        "$map",
                        [
                            "input": elements(of: node), "as": Expression("inner"),
                            "in": .all([
                                Expression.variable("inner.v").hasType("object", "array"),
                                repeatsName(.variable("inner.v"), levels: levels - 1),
                            ]),
                        ]))
            ]
        return .let(["node": value], in: .any([.all([node.hasType("object"), shrinks(node)])] + inner))
    }
}
