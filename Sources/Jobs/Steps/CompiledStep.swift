package import BSON
import Concurrency
package import ServerSchema

/// A step as the server runs it: which documents need it, what it writes, and which documents it must skip.
package struct CompiledStep: Sendable {
    /// The step that is compiled.
    package let step: Step
    /// The same as ``needs``, but without the test whether the server would alter the document.
    ///
    /// That test costs four times as much as the rest. A reader may go without it, a write must not.
    package let mayNeed: Expression
    /// The condition under which the server would alter what the steps of the job do not change; see
    /// ``altered(by:seeingKeys:)``.
    package private(set) var altered: AlteredDocument
    /// The computation that the client does for documents that meet ``needs``; `nil` for a step that ``stage`` runs.
    package var client: (any ClientComputation)?
    /// The place of the step in the job file; `nil` for a step that no file states.
    package var location: SourceLocation?

    /// The new value of each top-level field of the document, where the step is needed.
    private let fields: [(name: String, value: Expression)]
    /// The reasons that come before and after ``Reason/repeatedName``.
    private let otherReasons: (first: [(reason: Reason, when: Expression)], last: [(reason: Reason, when: Expression)])
    /// The condition of the stage while a test injects ``FaultInjection/Bug/noNeeds``; `nil` otherwise.
    private let plantedNeed: Expression?

    /// Compiles a step.
    /// - Parameter others: The steps of the job. All count for ``altered``, because each stage writes back what it
    ///   keeps.
    package init(_ step: Step, among others: [Step] = []) {
        let steps = others.contains(step) ? others : [step] + others
        self.init(step, altered: Self.altered(by: steps, seeingKeys: false))
    }

    /// Compiles a step of a job.
    /// - Parameter altered: The result of ``altered(by:seeingKeys:)`` for all steps of the job.
    package init(_ step: Step, altered: AlteredDocument) {
        self.step = step
        self.altered = altered
        let (targets, sources) = (step.targets, step.sources)
        let containers = step.target.containers
        let body = step.kind.body()
        client = step.kind.clientComputation
        let isReachable = Expression.every(targets.map(\.isReachable))
        let wanted = isReachable && body.wanted
        let unmarked = step.kind.marker.map { Expression.field($0).isMissing }
        let inElement = { Expression.inSomeElement(of: containers, $0) }
        // These come first, so that nothing else is evaluated for a document that the step does not apply to.
        let guards = [step.condition, unmarked].compactMap(\.self)
        mayNeed = Expression.all(guards + [inElement(wanted)])
        let isPlanted = FaultInjection.isPlanted(.noNeeds)
        plantedNeed = isPlanted ? altered.asked { .all(guards + [inElement(isReachable), !$0]) } : nil
        var writes = Self.lifted(
            body.writes(to: step.target), if: isPlanted ? isReachable : wanted, through: containers)
        if let marker = step.kind.marker { writes.append((marker, .constant(true))) }
        fields = Assignment(writes: writes).fields
        let unreachable = Self.unreachable(targets: targets, sources: sources, isConcerned: body.isConcerned)
        let first: [(reason: Reason, when: Expression)] =
            (body.conflicts.map { ($0.reason, isReachable && $0.when) } + unreachable)
            .map { ($0.reason, Expression.all(guards + [inElement($0.when)])) }
        let last: [(reason: Reason, when: Expression)] = Self.noContainer(containers).map {
            ($0.reason, .all(guards + [$0.when]))
        }
        otherReasons = (first, last)
    }

    /// Returns the step with another test whether the server would alter the document.
    ///
    /// A pipeline of many steps makes the test once, and each step reads its result. If each step made the test, the
    /// pipeline would be larger than a command may be.
    package func knowing(_ altered: AlteredDocument) -> CompiledStep {
        var step = self
        step.altered = altered
        return step
    }

    /// Returns the writes to the document's own fields.
    ///
    /// A write to elements becomes one of the whole list or dictionary.
    private static func lifted(
        _ writes: [(path: FieldPath, value: Expression)], if wanted: Expression, through containers: [FieldPath]
    ) -> [(path: FieldPath, value: Expression)] {
        func element(_ writes: [(path: FieldPath, value: Expression)], if condition: Expression) -> Expression {
            let fields = Assignment(writes: writes).fields
            precondition(fields.count == 1, "an element is one value")
            return .choose(if: condition, then: fields[0].value, else: .field(FieldPath(trusted: [fields[0].name])))
        }
        var writes = writes.map { ($0.path.local, $0.value) }
        var condition = wanted
        for container in containers.reversed() {
            writes = [(container, .rewriting(.field(container), each: element(writes, if: condition)))]
            condition = container.isContainer
        }
        return writes
    }

    /// Whether a document still lacks the step and the step can be done.
    package var needs: Expression { altered.asked { .all([mayNeed, !$0]) } }

    /// The update stage: it writes where ``needs`` holds, and otherwise keeps each value.
    package var stage: BSONDocument { stage(if: plantedNeed ?? needs) }

    /// The update stage of a write whose filter tests ``needs`` of this step or of another one.
    ///
    /// It does not test again whether the server would alter the document, which costs as much as the update itself.
    package var writeStage: BSONDocument { stage(if: plantedNeed ?? mayNeed) }

    /// The update stage of a write whose filter tests ``needs`` of this step alone, so that nothing is tested again.
    package var soleStage: BSONDocument { stage(if: plantedNeed) }

    private func stage(if condition: Expression?) -> BSONDocument {
        let values = fields.map { name, value in
            let kept = Expression.field(FieldPath(trusted: [name]))
            // Without `$cond`, an object would be set field by field, and in each element of an existing list.
            let condition = condition ?? (value.isOperator ? nil : .constant(true))
            return (name, (condition.map { .choose(if: $0, then: value, else: kept) } ?? value).bson)
        }
        return ["$set": .object(BSONDocument(values))]
    }

    /// The conditions under which a document is skipped, per reason.
    ///
    /// For a field that is reached through objects alone, at most one of these and ``needs`` holds for a document. In
    /// a list, each element may have its own reason, while others need the step.
    package var leftAlone: [(reason: Reason, when: Expression)] {
        otherReasons.first + [(.repeatedName, altered.asked { .all([mayNeed, $0]) })] + otherReasons.last
    }

    /// The reasons of ``leftAlone``, in the same order.
    package var leftAloneReasons: [Reason] {
        otherReasons.first.map(\.reason) + [.repeatedName] + otherReasons.last.map(\.reason)
    }

    /// Returns the conditions under which a parent is not an object.
    ///
    /// A source below a value of another type is reported too, because it cannot be read. A source whose parent is
    /// missing counts as missing.
    private static func unreachable(
        targets: [FieldPath], sources: [FieldPath], isConcerned: Expression
    ) -> [(reason: Reason, when: Expression)] {
        let other =
            sources.compactMap { $0.blocked { !$0.isMissingOrNull && !$0.hasType("object") } }
            + targets.compactMap { $0.blocked { !$0.isMissingOrNull && !$0.hasType("object") } }
            .map { isConcerned && $0 }
        let missing = targets.compactMap { $0.blocked { $0.isMissingOrNull } }
        guard !other.isEmpty else { return [] }
        let isOther = Expression.any(other)
        // Several targets may be blocked in different ways: a parent of another type is reported first.
        let isMissing = Expression.all(
            (targets.count > 1 || sources.count > 1 ? [!isOther] : [])
                + [isConcerned, .any(missing)])
        return [(.parentNotObject, isOther)] + (missing.isEmpty ? [] : [(.parentMissing, isMissing)])
    }

    /// Returns whether a value in the place of a list or dictionary is neither, or a parent of it is not an object.
    private static func noContainer(_ containers: [FieldPath]) -> [(reason: Reason, when: Expression)] {
        let found = containers.indices.flatMap { index in
            let container = containers[index]
            let value = Expression.field(container)
            let isOther = container.isReachable && !value.isMissingOrNull && !value.hasType("array", "object")
            return [isOther, container.blocked { !$0.isMissingOrNull && !$0.hasType("object") }].compactMap(\.self).map
            {
                Expression.inSomeElement(of: Array(containers[..<index]), $0)
            }
        }
        return found.isEmpty ? [] : [(.notContainer, .any(found))]
    }
}

extension Expression {
    /// Returns whether all operands hold; operands that are always true are left out.
    fileprivate static func every(_ operands: [Expression]) -> Expression {
        let real = operands.filter { $0 != .constant(true) }
        return real.isEmpty ? .constant(true) : .all(real)
    }
}

extension FieldPath {
    /// Whether every parent is an object.
    ///
    /// It is evaluated from the root (or the element) down, so that a path never leads through an array.
    package var isReachable: Expression {
        let parents = local.parents
        return parents.isEmpty ? .constant(true) : .all(parents.map { Expression.field($0).hasType("object") })
    }

    /// Returns whether the outermost parent that is not an object is `such`; `nil` for a field without parents.
    func blocked(_ such: (Expression) -> Expression) -> Expression? {
        let parents = local.parents
        guard !parents.isEmpty else { return nil }
        return .any(
            parents.indices.map { index in
                .all(parents[..<index].map { Expression.field($0).hasType("object") } + [such(.field(parents[index]))])
            })
    }
}

extension CompiledStep {
    /// The reason to skip a document that a step applies to.
    package enum Reason: String, Sendable, CaseIterable {
        /// The value has no counterpart in the new type, or can be converted only with loss.
        case notConvertible = "not convertible without loss"
        /// The target holds another value already.
        case targetDiffers = "target holds another value"
        /// The target holds another value, and the job says to keep it.
        case targetKept = "target keeps its value"
        /// Source and target are the same as far down as they can be compared exactly.
        case tooDeep = "nested too deeply to be compared exactly"
        /// The value has a type that the step does not handle.
        case wrongType = "value is of another type"
        /// A part of the text to be combined is missing.
        case partMissing = "a part is missing"
        /// The text has more or fewer parts than there are fields, or the parts do not make the text again.
        case notSplittable = "does not split into the fields without loss"
        /// There is not exactly one value to take out.
        case notSingle = "does not hold exactly one value"
        /// The map has no entry for the value.
        case notInMap = "value is not in the map"
        /// A parent of the target, or of the source, is of another type than object.
        case parentNotObject = "parent is not an object"
        /// A value in the place of a list or a dictionary is neither.
        case notContainer = "neither a list nor a dictionary"
        /// A field name occurs twice in the document, or in a parent of the target or the source; or an array that a
        /// step looks into has other keys than 0, 1, 2 and so on.
        ///
        /// Merging would lose one of the two fields, mongod 6.0 aborts when it computes the difference of such an
        /// update, and which of the two an expression reads is undefined. The server renumbers the elements of an
        /// array.
        case repeatedName = "a field name stands twice, or an array has other keys than 0, 1, 2"
        /// A parent of the target is missing or null; the job never creates it.
        case parentMissing = "parent is missing"
        /// The sync translator holds a lock on the document, which is not written in the meantime.
        case locked = "locked by the sync translator"

        /// The linked document does not exist.
        case brokenLink = "the linked document is not there"
        /// A document to be embedded has several parents. The text is the one of the client's own migration.
        case multipleBacklinks = "At least one object does have multiple backlinks."
        /// The other collection holds another document under the `_id`.
        case otherDocument = "another document has that _id"
        /// The value that is to become the `_id` is missing from the object, or no link can have it.
        case noID = "the object has no value that can be an _id"
        /// The object has an `_id`, which the document made of it cannot keep in addition to its own.
        case ownID = "the object has an _id of its own, which would be lost"
        /// The object holds a timestamp that an insert into its collection would fill in.
        case emptyTimestamp = "the object has an empty timestamp, which an insert would fill in"
        /// The document made of the object would not sync in its collection, or would not be accepted there.
        case unfitChild = "the object does not fit the schema of the collection that would take it"
        /// A link's value is neither an old value of the lookup nor a new one.
        case unknownKey = "the lookup does not know the value"
        /// The lookup has several new values for a link's value.
        case ambiguousKey = "the lookup gives several values"

        /// Whether the operator has to handle such a document: a missing parent has nothing to fill.
        package var isTrouble: Bool { self != .parentMissing && self != .targetKept }
    }
}

/// Documents that the server would alter when it writes them back.
extension CompiledStep {
    /// Returns whether a name occurs twice, or an array has other keys than 0, 1, 2, in what the steps write or read.
    ///
    /// A repeated name counts in the document itself, in an object that one of the steps merges into, and anywhere in
    /// a value that one of them looks into. Merging an object keeps one field of each name, which makes the object
    /// smaller if a name occurs twice. Reading inside an object is enough for mongod 6.0 to write both fields with the
    /// value of the first, and for every server to renumber an array.
    /// - Parameter seesKeys: Whether the server can hash an object by its bytes, from 5.0 on: an object with an array
    ///   that would be renumbered has another hash once it is merged. Earlier servers do not show it.
    package static func altered(by steps: [Step], seeingKeys seesKeys: Bool) -> AlteredDocument {
        let isAltered = seesKeys ? Expression.changesByMerging : Expression.shrinks
        let merged = holds(in: steps.flatMap { ($0.targets + $0.sources).flatMap(\.givenBack) }) {
            .all([$0.hasType("object"), isAltered($0)])
        }
        let seenInto = holds(in: steps.flatMap(\.looksInto)) {
            .all([
                $0.hasType("object", "array"), .isAltered($0, levels: Expression.exactLevels, by: isAltered),
            ])
        }
        let root = Expression.variable("ROOT")
        // An array that no step reads, and whose place no step writes, stays as it is.
        let paths = steps.flatMap { step in
            let overwritten = step.kind.tellsWhatWas && !step.kind.changesInPlace ? step.kind.removed : step.targets
            let elements = step.targets.filter(\.leadsIntoElements)
            return step.looksInto + step.sources + overwritten + elements
        }
        let places = Set(paths.map(\.untilElements)).sorted { $0.description < $1.description }
        let hashesFirst = seesKeys && !places.isEmpty
        let hasArray = Expression.any(places.map { $0.isReachable && Expression.field($0).hasType("array") })
        let isNumberedAnew = !(AlteredDocument.bytes == .hash(of: .merged(root)))
        let ofKeys = hashesFirst ? [Expression.all([hasArray, isNumberedAnew])] : []
        return AlteredDocument(.any([.shrinks(root)] + ofKeys + merged + seenInto), hashesFirst: hashesFirst)
    }

    /// Returns whether a condition holds for the value at one of the paths.
    ///
    /// Paths in one container are tested together.
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
}

extension [CompiledStep] {
    /// Whether a document needs one of the steps.
    ///
    /// A test of the document as a whole is made once for all steps.
    package var need: Expression {
        .any(
            alike.map { altered, steps in
                altered.asked { .all([.any(steps.map(\.mayNeed)), !$0]) }
            })
    }

    /// Whether a document may need one of the steps, and the server would alter it.
    ///
    /// A document that needs no step at first is changed by none, so that no later step comes to need it either.
    package var alteredAlthoughNeeded: Expression {
        .any(
            alike.map { altered, steps in
                altered.asked { .all([.any(steps.map(\.mayNeed)), $0]) }
            })
    }

    /// The steps grouped by their test of the document as a whole; the steps of one job share one.
    private var alike: [(altered: AlteredDocument, steps: [CompiledStep])] {
        reduce(into: []) { groups, step in
            if let index = groups.firstIndex(where: { $0.altered == step.altered }) {
                groups[index].steps.append(step)
            } else {
                groups.append((step.altered, [step]))
            }
        }
    }
}

extension Expression {
    /// Whether merging an object makes it smaller, because a name occurs twice in it.
    fileprivate static func shrinks(_ object: Expression) -> Expression {
        !(Expression(["$bsonSize": object.bson]) == Expression(["$bsonSize": merged(object).bson]))
    }

    /// Whether merging an object changes its bytes: a name occurs twice, or an array has other keys than 0, 1, 2.
    fileprivate static func changesByMerging(_ object: Expression) -> Expression {
        !(hash(of: object) == hash(of: merged(object)))
    }

    /// Returns an object as the server writes it once it has read each field.
    fileprivate static func merged(_ object: Expression) -> Expression { Expression(["$mergeObjects": [object.bson]]) }

    /// Whether an object inside an object or a list would be altered, down to a number of levels.
    fileprivate static func isAltered(
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
                            "input": elements(of: node), "as": Expression("inner"),
                            "in": .all([
                                Expression.variable("inner.v").hasType("object", "array"),
                                Self.isAltered(.variable("inner.v"), levels: levels - 1, by: isAltered),
                            ]),
                        ]))
            ]
        return .let(["node": value], in: .any([.all([node.hasType("object"), isAltered(node)])] + inner))
    }
}
