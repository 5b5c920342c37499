import BSON

/// The condition under which a write by the server would change more of a document than the steps change.
///
/// When the server writes a document that meets the condition, it drops one of two fields with the same name, or
/// renumbers an array.
package struct AlteredDocument: Hashable, Sendable {
    /// The condition, which may use the variable ``bytes``; the variable is bound only inside ``asked(in:)``.
    let condition: Expression
    /// Whether the condition compares a hash of the whole document.
    ///
    /// The hash must be computed before the server reads any field of the document. Once the server has read a field,
    /// it uses a copy of the document in which that field may already be altered.
    let hashesFirst: Bool

    /// The variable that holds the hash of the whole document's bytes.
    static let bytes = Expression.variable("ownBytes")

    /// Creates a condition whose result is already stored in a field, or in a variable of `$let`.
    /// - Parameter field: the path of the field, or the name of the variable after a dollar sign.
    package init(knownAt field: String) { self.init(.string("$\(field)")) }

    package init(_ value: Bool) { self.init(["$literal": .bool(value)]) }

    private init(_ condition: BSONValue) {
        (self.condition, hashesFirst) = (Expression(condition), false)
    }

    /// Returns an expression that uses the condition.
    ///
    /// If the condition needs the hash of the whole document, the expression binds the variable ``bytes`` to this hash.
    /// - Parameter body: Makes the expression from the condition.
    func asked(in body: (Expression) -> Expression) -> Expression {
        let expression = body(condition)
        let hash = Self.hash(of: .variable("ROOT"))
        return hashesFirst ? .let(["ownBytes": hash], in: expression) : expression
    }
}

extension AlteredDocument {
    /// Creates the condition under which the server would alter more of a document than the steps change.
    ///
    /// The server does so if a value that the steps read or write has the same field name twice, or has an array whose
    /// keys are not 0, 1, 2 and so on. The server does so even if a step only reads inside the value: mongod 6.0 gives
    /// both fields of one name the value of the first, and every server renumbers an array.
    ///
    /// The condition looks for repeated names in the document itself, in each object that contains a field of a step,
    /// and in the upper levels of a value whose content a step reads. `$mergeObjects` keeps one field of each name. The
    /// condition therefore applies `$mergeObjects` to the object alone, and compares the size or hash of the result
    /// with that of the object.
    /// - Parameter seesKeys: Whether the server can hash the bytes of an object, from 5.0 on. The hash shows whether
    ///   `$mergeObjects` would renumber an array. On earlier servers, this cannot be detected.
    package init(by steps: [Step], seeingKeys seesKeys: Bool) {
        let isAltered = seesKeys ? Self.changesByMerging : Self.shrinks
        let merged = Self.holds(in: steps.flatMap { ($0.targets + $0.sources).flatMap(\.restoredPaths) }) {
            .all([$0.hasType("object"), isAltered($0)])
        }
        let seenInto = Self.holds(in: steps.flatMap(\.readsInside)) {
            .all([
                $0.hasType("object", "array"), Self.isAltered($0, levels: Expression.exactLevels, by: isAltered),
            ])
        }
        let root = Expression.variable("ROOT")
        // The server renumbers each array that it reads or writes, so these are the paths of all values that the steps
        // may read or write.
        //
        // If a job has a single step that loses no value and changes nothing in place, the step writes only to targets
        // without a value, and to the fields that it removes. If a job has several steps, a document may need only some
        // of them. Each of the other steps then writes its target and the top-level field around the target with their
        // present values.
        let paths = steps.flatMap { step in
            let isAlone = steps.count == 1 && step.kind.determinesOldValue && !step.kind.changesInPlace
            let written =
                isAlone ? step.kind.removed : step.targets + step.targets.map { FieldPath(trusted: [$0.topLevel]) }
            let elements = step.targets.filter(\.leadsIntoElements)
            return step.readsInside + step.sources + written + elements
        }
        let places = Set(paths.map(\.untilElements)).sorted { $0.description < $1.description }
        hashesFirst = seesKeys && !places.isEmpty
        // The server renumbers an array if its keys are not 0, 1, 2 and so on.
        let hasArray = Expression.any(places.map { $0.isReachable && Expression.field($0).hasType("array") })
        let isRenumbered = !(Self.bytes == Self.hash(of: Self.merged(root)))
        let ofKeys = hashesFirst ? [Expression.all([hasArray, isRenumbered])] : []
        condition = .any([Self.shrinks(root)] + ofKeys + merged + seenInto)
    }

    /// Returns one expression for each group of paths; it is true if `condition` holds for the value at a path of the
    /// group.
    ///
    /// Paths that lead through the same lists and dictionaries, or through none, form a group.
    private static func holds(in paths: [FieldPath], _ condition: (Expression) -> Expression) -> [Expression] {
        var groups: [(containers: [FieldPath], paths: [FieldPath])] = []
        for path in paths {
            if let index = groups.firstIndex(where: { $0.containers == path.containers }) {
                if !groups[index].paths.contains(path) { groups[index].paths.append(path) }
            } else {
                groups.append((path.containers, [path]))
            }
        }
        return groups.map { group in
            let values = group.paths.map {
                Expression.choose(if: $0.isReachable, then: .field($0), else: .constant(nil))
            }
            let isOne = Expression.call(
                "$map",
                [
                    "input": Expression(.array(of: values.map(\.bson))), "as": Expression("value"),
                    "in": condition(.variable("value")),
                ])
            return .inSomeElement(of: group.containers, .call("$anyElementTrue", isOne))
        }
    }

    /// Returns whether `$mergeObjects`, applied to the object alone, gives a smaller object.
    ///
    /// The result is smaller if a field name occurs twice in the object.
    private static func shrinks(_ object: Expression) -> Expression {
        !(Expression(["$bsonSize": object.bson]) == Expression(["$bsonSize": merged(object).bson]))
    }

    /// Returns whether `$mergeObjects`, applied to the object alone, gives an object with other bytes.
    ///
    /// The bytes differ if a field name occurs twice in the object, or if an array in it has other keys than 0, 1, 2
    /// and so on.
    private static func changesByMerging(_ object: Expression) -> Expression {
        !(hash(of: object) == hash(of: merged(object)))
    }

    /// Returns an object as the server would write it if it had read every field of the object.
    private static func merged(_ object: Expression) -> Expression { Expression(["$mergeObjects": [object.bson]]) }

    /// Whether the server would alter the value or an object inside it; objects nested deeper than `levels` levels are
    /// not tested.
    private static func isAltered(
        _ value: Expression, levels: Int, by isAltered: (Expression) -> Expression
    ) -> Expression {
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
                            "input": .elements(of: node), "as": Expression("inner"),
                            "in": .all([
                                Expression.variable("inner.v").hasType("object", "array"),
                                Self.isAltered(.variable("inner.v"), levels: levels - 1, by: isAltered),
                            ]),
                        ]))
            ]
        return .let(["node": value], in: .any([.all([node.hasType("object"), isAltered(node)])] + inner))
    }

    private static func hash(of object: Expression) -> Expression { Expression(["$toHashedIndexKey": object.bson]) }
}
