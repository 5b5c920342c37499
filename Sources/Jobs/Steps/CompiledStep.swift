package import BSON
import Concurrency
package import ServerSchema

/// A step as the server runs it: which documents need it, what it writes, and what it must leave alone.
package struct CompiledStep: Sendable {
    /// What the step does.
    package let step: Step
    /// The same as ``needs`` without asking whether the server would give the document back otherwise, which costs four
    /// times the rest: for a reader, not for a write.
    package let mayNeed: Expression
    /// Whether the server would not give back as it is what the steps of the job do not change; see
    /// ``altered(by:seeingKeys:)``.
    package private(set) var altered: AlteredDocument
    /// What the client computes of the documents that ``needs`` holds for; `nil` for a step that ``stage`` runs.
    package var client: (any ClientComputation)?
    /// Where the job file says so; `nil` for a step that no file states.
    package var location: SourceLocation?

    /// The new value of each field of the document itself, where the step is needed.
    private let fields: [(name: String, value: Expression)]
    /// The reasons before and after ``Reason/repeatedName``.
    private let otherReasons: (first: [(reason: Reason, when: Expression)], last: [(reason: Reason, when: Expression)])
    /// The condition of a stage that a test makes write the same again; `nil` otherwise.
    private let plantedNeed: Expression?

    /// Compiles a step.
    /// - Parameter others: the steps of the job. Each stage gives back what it does not change.
    package init(_ step: Step, among others: [Step] = []) {
        let steps = others.contains(step) ? others : [step] + others
        self.init(step, altered: Self.altered(by: steps, seeingKeys: false))
    }

    /// Compiles a step of a job.
    /// - Parameter altered: what ``altered(by:seeingKeys:)`` gives for all steps of the job.
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
        // First of all: what the step is not for, nothing else is asked of.
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

    /// The step with another answer to whether the server would give the document back otherwise.
    ///
    /// A pipeline of many steps asks once and has each step read the answer: asked by each step, the pipeline would be
    /// larger than a command may be.
    package func knowing(_ altered: AlteredDocument) -> CompiledStep {
        var step = self
        step.altered = altered
        return step
    }

    /// The writes as the document sees them: where they are to elements, each list or dictionary is written as a whole.
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

    /// Whether a document still lacks the step, and the step can do it.
    package var needs: Expression { altered.asked { .all([mayNeed, !$0]) } }

    /// The update stage: writes where ``needs`` holds, and else leaves each value as it is.
    package var stage: BSONDocument { stage(if: plantedNeed ?? needs) }

    /// The update stage of a write whose filter holds ``needs`` of this step or of one beside it: what costs as much as
    /// the update itself is not asked again.
    package var writeStage: BSONDocument { stage(if: plantedNeed ?? mayNeed) }

    /// The update stage of a write whose filter holds ``needs`` of this step alone: nothing is asked again.
    package var soleStage: BSONDocument { stage(if: plantedNeed) }

    private func stage(if condition: Expression?) -> BSONDocument {
        let values = fields.map { name, value in
            let kept = Expression.field(FieldPath(trusted: [name]))
            // An object that stands here unwrapped would be set field by field, in each element of a list that is
            // there.
            let condition = condition ?? (value.isOperator ? nil : .constant(true))
            return (name, (condition.map { .choose(if: $0, then: value, else: kept) } ?? value).bson)
        }
        return ["$set": .object(BSONDocument(values))]
    }

    /// Whether a document is left alone, per reason.
    ///
    /// For a field that is reached through objects alone no two hold for one document, nor one beside ``needs``. Of the
    /// elements of a list each may have its own, beside others that need the step.
    package var leftAlone: [(reason: Reason, when: Expression)] {
        otherReasons.first + [(.repeatedName, altered.asked { .all([mayNeed, $0]) })] + otherReasons.last
    }

    /// The reasons of ``leftAlone``, in their order.
    package var leftAloneReasons: [Reason] {
        otherReasons.first.map(\.reason) + [.repeatedName] + otherReasons.last.map(\.reason)
    }

    /// Where a parent is no object.
    ///
    /// A source that has a parent of another type is told too, as what stands below it is not read; a source whose
    /// parent is missing is no source.
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
        // Several targets can be blocked each in its own way: what is of another type is told first.
        let isMissing = Expression.all(
            (targets.count > 1 || sources.count > 1 ? [!isOther] : [])
                + [isConcerned, .any(missing)])
        return [(.parentNotObject, isOther)] + (missing.isEmpty ? [] : [(.parentMissing, isMissing)])
    }

    /// Where something else stands in the place of a list or a dictionary, or above it.
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
    /// Whether all hold; what is always true is left out.
    fileprivate static func every(_ operands: [Expression]) -> Expression {
        let real = operands.filter { $0 != .constant(true) }
        return real.isEmpty ? .constant(true) : .all(real)
    }
}

extension FieldPath {
    /// Whether every parent is an object; evaluated from the root, or the element, down, so that a path never leads
    /// through an array.
    package var isReachable: Expression {
        let parents = local.parents
        return parents.isEmpty ? .constant(true) : .all(parents.map { Expression.field($0).hasType("object") })
    }

    /// Whether the outermost parent that is no object is `such`; `nil` for a field of the document or element itself.
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
    /// Why a document that the step is about is left alone.
    package enum Reason: String, Sendable, CaseIterable {
        /// The value has no counterpart in the new type, or only with loss.
        case notConvertible = "not convertible without loss"
        /// The target holds another value already.
        case targetDiffers = "target holds another value"
        /// The target holds another value, which the job is to keep.
        case targetKept = "target keeps its value"
        /// Source and target look the same, as far down as they can be compared exactly.
        case tooDeep = "nested too deeply to be compared exactly"
        /// The value is of a type that the step says nothing about.
        case wrongType = "value is of another type"
        /// A part of what is to be combined is not there.
        case partMissing = "a part is missing"
        /// The text has more or fewer parts than fields, or they do not make the text again.
        case notSplittable = "does not split into the fields without loss"
        /// There is not exactly one value to take out.
        case notSingle = "does not hold exactly one value"
        /// The map says nothing about the value.
        case notInMap = "value is not in the map"
        /// A parent of the target, or of the source, is of another type than object.
        case parentNotObject = "parent is not an object"
        /// Something else stands in the place of a list or a dictionary.
        case notContainer = "neither a list nor a dictionary"
        /// A field name stands twice in the document, or in a parent of the target or the source; or an array that a
        /// step looks into has other keys than 0, 1, 2 and so on.
        ///
        /// Merging would lose one of two fields, mongod 6.0 aborts when it words the difference of such an update, and
        /// which of the two an expression reads is not said. The server renumbers the elements of an array.
        case repeatedName = "a field name stands twice, or an array has other keys than 0, 1, 2"
        /// A parent of the target is missing or null: it is never created.
        case parentMissing = "parent is missing"
        /// The sync translator holds the document locked: it is not written while it is.
        case locked = "locked by the sync translator"

        /// A link leads to a document that is not there.
        case brokenLink = "the linked document is not there"
        /// A document that is to be embedded has several parents: the words are those of the client's own migration.
        case multipleBacklinks = "At least one object does have multiple backlinks."
        /// The other collection holds another document under the `_id`.
        case otherDocument = "another document has that _id"
        /// An `_id` that is to be taken from the object is missing, or none that a link can be.
        case noID = "the object has no value that can be an _id"
        /// The object has an `_id`, which the document that it becomes cannot keep beside its own.
        case ownID = "the object has an _id of its own, which would be lost"
        /// The object holds a timestamp that an insert into its collection would fill in.
        case emptyTimestamp = "the object has an empty timestamp, which an insert would fill in"
        /// The document that the object becomes would not sync, or not be accepted, in its collection.
        case unfitChild = "the object does not fit the schema of the collection that would take it"
        /// A link's value is neither among the old values nor among the new ones.
        case unknownKey = "the lookup does not know the value"
        /// A link's value stands for several new ones.
        case ambiguousKey = "the lookup gives several values"

        /// Whether such a document remains for the operator to see to; a parent that is absent has nothing to fill.
        package var isTrouble: Bool { self != .parentMissing && self != .targetKept }
    }
}

/// Documents that the server would not give back as they are.
extension CompiledStep {
    /// Whether a name stands twice in the document, in an object that one of the steps merges into, or anywhere in a
    /// value that one of them looks into; or an array has other keys than 0, 1, 2 there.
    ///
    /// Merging an object keeps one of each name, and so makes it smaller where one stood twice. Looking into one is enough
    /// for mongod 6.0 to write both names with the value of the first, and for every server to renumber an array.
    /// - Parameter seesKeys: Whether the server can hash an object by its bytes, from 5.0 on: an object with an array
    ///   that would be renumbered has another hash once it is merged. Earlier servers do not tell.
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

    /// Whether a condition holds for the value of one of the paths; those in one container are asked together.
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
    /// Whether a document needs one of the steps; what is asked of the document as a whole is asked once.
    package var need: Expression {
        .any(
            alike.map { altered, steps in
                altered.asked { .all([.any(steps.map(\.mayNeed)), !$0]) }
            })
    }

    /// Whether a document may need one of the steps, and the server would give it back otherwise.
    ///
    /// A document that needs no step as it is is changed by none, so that no later step comes to need it either.
    package var alteredAlthoughNeeded: Expression {
        .any(
            alike.map { altered, steps in
                altered.asked { .all([.any(steps.map(\.mayNeed)), $0]) }
            })
    }

    /// The steps by what they ask of the document as a whole: those of one job ask the same.
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
    /// Whether merging an object makes it smaller: a name stands twice in it.
    fileprivate static func shrinks(_ object: Expression) -> Expression {
        !(Expression(["$bsonSize": object.bson]) == Expression(["$bsonSize": merged(object).bson]))
    }

    /// Whether merging an object changes its bytes: a name stands twice in it, or an array has other keys than 0, 1, 2.
    fileprivate static func changesByMerging(_ object: Expression) -> Expression {
        !(hash(of: object) == hash(of: merged(object)))
    }

    /// An object as the server writes it once it has looked at each field.
    fileprivate static func merged(_ object: Expression) -> Expression { Expression(["$mergeObjects": [object.bson]]) }

    /// Whether an object in an object or a list would be altered, as far down as so many levels.
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
