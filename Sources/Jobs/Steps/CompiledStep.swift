package import BSON
import Concurrency
package import ServerSchema

/// A step in the form that the server runs: the conditions under which a document needs the step or is skipped, and the
/// values that the step writes.
package struct CompiledStep: Sendable {
    package let step: Step
    /// The condition ``needs`` without the test of ``altered``: a document that meets it may need the step.
    ///
    /// The test of ``altered`` costs four times as much as the rest of the condition. A command that only reads may
    /// omit the test; the filter of a write must not.
    package let mayNeed: Expression
    /// The condition under which the server would alter more of a document than the steps of the job change.
    ///
    /// See ``AlteredDocument/init(by:seeingKeys:)``.
    package private(set) var altered: AlteredDocument
    /// The computation that the client does for documents that meet ``needs``; `nil` if ``stage`` does the whole step.
    package let client: ClientComputation?
    /// The data that the computation ``client`` needs in addition to the documents.
    package var preparation = ClientPreparation()
    /// The position of the step in the job file; `nil` if the step does not come from a file.
    package var location: SourceLocation?
    /// The conditions on the document, in addition to the step's own one, under which the step may run.
    package let guards: [Expression]

    /// The new value of each top-level field that the step writes to a document that needs it.
    private let fields: [(name: String, value: Expression)]
    /// The reasons before and after ``Reason/repeatedName``, with their conditions; see ``StepKind/losses`` for the
    /// reasons that ``skipped`` lists in place of ``Reason/noValue``.
    private let otherReasons: (first: [(reason: Reason, when: Expression)], last: [(reason: Reason, when: Expression)])
    /// The reasons that ``skipped`` lists in place of ``Reason/noValue``, with their conditions.
    private let losses: [(reason: Reason, when: Expression)]
    /// The condition of the stage while a test injects the bug ``FaultInjection/Bug/noNeeds``; otherwise `nil`.
    private let plantedNeed: Expression?

    /// Compiles a step.
    /// - Parameter others: All steps of the job. ``altered`` depends on all of them, because the stage of each step
    ///   also writes back values that the step does not change, and the server may alter these values.
    package init(_ step: Step, among others: [Step] = []) {
        let steps = others.contains(step) ? others : [step] + others
        self.init(step, altered: AlteredDocument(by: steps, seeingKeys: false))
    }

    /// Compiles a step of a job whose ``altered`` condition is already known.
    /// - Parameters:
    ///   - altered: The condition under which the server would alter more of a document than the job's steps change.
    ///   - guards: Conditions of the step in addition to its own one.
    package init(_ step: Step, altered: AlteredDocument, guards extra: [Expression] = []) {
        self.step = step
        guards = extra
        self.altered = altered
        let (targets, sources) = (step.targets, step.sources)
        let containers = step.target.containers
        let body = step.kind.body()
        client = step.kind.clientComputation
        let isReachable = Expression.every(targets.map(\.isReachable))
        let wanted = isReachable && body.wanted
        let unmarked = step.kind.marker.map { Expression.field($0).isMissing }
        let inElement = { Expression.inSomeElement(of: containers, $0) }
        // The step's own condition, and the test that no marker field shows the document as done, come first. If one of
        // them fails, the server evaluates nothing else for the document.
        let guards = [step.condition, unmarked].compactMap(\.self) + extra
        mayNeed = Expression.all(guards + [inElement(wanted)])
        let isPlanted = FaultInjection.isPlanted(.noNeeds)
        plantedNeed = isPlanted ? altered.asked { .all(guards + [inElement(isReachable), !$0]) } : nil
        var writes = Self.lifted(
            body.writes(to: step.target), if: isPlanted ? isReachable : wanted, through: containers)
        if let marker = step.kind.marker { writes.append((marker, .constant(true))) }
        fields = Assignment(writes: writes).fields
        let unreachable =
            step.isFound
            ? []
            // The copy of a rename reports what cannot be reached.
            : Self.unreachable(
                targets: targets, sources: step.kind is RemoveCopiedStep ? [] : sources, applies: body.applies)
        // Another value at a path that was found in other documents is not what a step at any depth is about.
        let conflicts = body.conflicts.filter { !step.isFound || $0.reason != .wrongType }.map {
            (reason: $0.reason, when: isReachable && $0.when)
        }
        let first: [(reason: Reason, when: Expression)] = (conflicts + unreachable).map {
            ($0.reason, Expression.all(guards + [inElement($0.when)]))
        }
        losses = conflicts.filter { $0.reason == .noValue }.flatMap { conflict in
            step.kind.losses.map { ($0.reason, .all(guards + [inElement(conflict.when && $0.when)])) }
        }
        let last: [(reason: Reason, when: Expression)] = (step.isFound ? [] : Self.noContainer(containers)).map {
            ($0.reason, .all(guards + [$0.when]))
        }
        otherReasons = (first, last)
    }

    /// Returns the step with the given condition in place of its own ``altered`` condition.
    ///
    /// A pipeline of many steps evaluates the condition once, and each step reads the result. If each step evaluated
    /// the condition, the pipeline could be larger than a command may be.
    package func knowing(_ altered: AlteredDocument) -> CompiledStep {
        var step = self
        step.altered = altered
        return step
    }

    /// Turns writes to elements of lists or dictionaries into writes to fields of the document itself.
    ///
    /// A write to elements becomes a write of the whole list or dictionary that holds them.
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

    /// Whether a document needs the step, and the server would not alter more of the document than the steps change.
    package var needs: Expression { altered.asked { .all([mayNeed, !$0]) } }

    /// The update stage, which writes new values where ``needs`` holds, and otherwise keeps each value.
    package var stage: BSONDocument { stage(if: plantedNeed ?? needs) }

    /// The update stage for a write of several steps; the filter of the write selects documents that meet ``needs`` of
    /// at least one step.
    ///
    /// The stage tests whether the document may need this step. It does not test again whether the server would alter
    /// the document, because that test costs as much as the update itself.
    package var writeStage: BSONDocument { stage(if: plantedNeed ?? mayNeed) }

    /// The update stage for a write of this step alone.
    ///
    /// The filter of the write selects documents that meet ``needs``, so the stage itself tests nothing.
    package var soleStage: BSONDocument { stage(if: plantedNeed) }

    private func stage(if condition: Expression?) -> BSONDocument {
        let values = fields.map { name, value in
            let kept = Expression.field(FieldPath(trusted: [name]))
            // Without `$cond`, `$set` would not replace an existing object or list: it would set the fields of the new
            // object in the existing object, or in each element of the existing list.
            let condition = condition ?? (value.isOperator ? nil : .constant(true))
            return (name, (condition.map { .choose(if: $0, then: value, else: kept) } ?? value).bson)
        }
        return ["$set": .object(BSONDocument(values))]
    }

    /// The reasons for which the server skips a document, each with its condition; a lock of the sync translator is not
    /// one of them.
    ///
    /// For a field that is reached through objects only, at most one of these conditions and ``needs`` holds for a
    /// document. In a list, one element may have a reason to be skipped while another one needs the step.
    package var skipped: [(reason: Reason, when: Expression)] {
        otherReasons.first.flatMap(exact) + [repeatedName] + otherReasons.last
    }

    /// The reasons of ``skipped``, in the same order.
    package var skipReasons: [Reason] {
        otherReasons.first.flatMap(exact).map(\.reason) + [.repeatedName] + otherReasons.last.map(\.reason)
    }

    /// The conditions of ``skipped``, with a single condition for all values that the step cannot convert.
    ///
    /// These conditions cost less than those of ``skipped``, and show as well whether the server skips a document.
    package var obstacles: [(reason: Reason, when: Expression)] {
        otherReasons.first + [repeatedName] + otherReasons.last
    }

    /// Returns the condition that the step skipped a document, so that only `source` has its value; `nil` for a step
    /// that skips none.
    ///
    /// A target that keeps its value by the job's own setting does not count.
    package func skipped(taking source: FieldPath) -> Expression? {
        let found = (otherReasons.first + otherReasons.last).filter { $0.reason != .targetKept }.map(\.when)
        let missing = (step.kind as? CombineStep).map {
            Expression.inSomeElement(of: step.target.containers, $0.lacks(source))
        }
        return found.isEmpty && missing == nil ? nil : .any(found + [missing].compactMap(\.self))
    }

    private var repeatedName: (reason: Reason, when: Expression) {
        (.repeatedName, altered.asked { .all([mayNeed, $0]) })
    }

    /// Returns ``losses`` in place of ``Reason/noValue``, if there are any; every other reason stays.
    private func exact(_ found: (reason: Reason, when: Expression)) -> [(reason: Reason, when: Expression)] {
        found.reason == .noValue && !losses.isEmpty ? losses : [found]
    }

    /// Returns the conditions under which the parent of a field is not an object, with the reasons to report.
    ///
    /// A source below a parent of another type is reported, because it cannot be read. A source whose parent is missing
    /// counts as missing.
    private static func unreachable(
        targets: [FieldPath], sources: [FieldPath], applies: Expression
    ) -> [(reason: Reason, when: Expression)] {
        let other =
            sources.compactMap { $0.blocked { !$0.isMissingOrNull && !$0.hasType("object") } }
            + targets.compactMap { $0.blocked { !$0.isMissingOrNull && !$0.hasType("object") } }
            .map { applies && $0 }
        let missing = targets.compactMap { $0.blocked { $0.isMissingOrNull } }
        guard !other.isEmpty else { return [] }
        let isOther = Expression.any(other)
        // If one parent is missing and another parent is not an object, the only reason is ``Reason/parentNotObject``.
        let isMissing = Expression.all(
            (targets.count > 1 || sources.count > 1 ? [!isOther] : [])
                + [applies, .any(missing)])
        return [(.parentNotObject, isOther)] + (missing.isEmpty ? [] : [(.parentMissing, isMissing)])
    }

    /// Returns the condition under which a list or dictionary cannot be read; empty if the path leads through none.
    ///
    /// The list or dictionary cannot be read if another value is in its place, or if one of its parents is not an
    /// object.
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

extension CompiledStep {
    /// The reason why a step that applies to a document skips it.
    package enum Reason: String, Sendable, CaseIterable {
        /// The new type has a close value, but not exactly the same one.
        case rounded
        /// The value is a number, the text of one or a date, and the new type cannot represent it.
        case outOfRange = "out of range"
        case noValue = "not a number, date or id"
        /// The value is a UUID of subtype 3, whose byte order the step does not state.
        case ambiguous = "more than one reading possible"
        case targetDiffers = "target holds another value"
        /// The target already holds another value than the step would write; the step keeps it, and does not report the
        /// document.
        case targetKept = "target keeps its value"
        /// Source and target are equal down to the deepest level that is compared exactly, but contain values below
        /// that level, which may differ.
        case tooDeep = "nested too deeply to be compared exactly"
        case wrongType = "value is of another type"
        case partMissing = "a part is missing"
        /// The text has more or fewer parts than there are fields, or joining the parts would not restore the text.
        case notSplittable = "does not split into the fields without loss"
        case notSingle = "does not hold exactly one value"
        case noTime = "the _id is no ObjectId with a time from 1970 to 2038"
        case notInMap = "value is not in the table"
        case parentNotObject = "parent is not an object"
        case notContainer = "neither a list nor a dictionary"
        /// A field name occurs twice, or the keys of an array are not 0, 1, 2 and so on.
        ///
        /// A repeated name counts in the document itself, in a parent of the target or of the source, and in a value
        /// whose content a step reads. An array counts if a step reads its content.
        ///
        /// A write of such a document could change more than the step does: the server would renumber the array, or
        /// would keep only one of the two fields with the repeated name. In addition, mongod 6.0 aborts when it
        /// computes the difference of such an update, and it is undefined which of the two fields an expression reads.
        case repeatedName = "a field name stands twice, or an array has other keys than 0, 1, 2"
        /// A parent of the target is missing or null; a job never creates a parent.
        case parentMissing = "parent is missing"
        /// The sync translator holds a lock on the document.
        ///
        /// The document must not be written until the lock is removed.
        case locked = "locked by the sync translator"

        case brokenLink = "the linked document is not there"
        /// Several links lead to the linked document that is to be embedded.
        ///
        /// The links may be in one document or in several. The migration of the client SDK uses the same text.
        case multipleBacklinks = "At least one object does have multiple backlinks."
        case otherDocument = "another document has that _id"
        case noID = "the object has no value that can be an _id"
        case ownID = "the object has an _id of its own, which would be lost"
        case emptyTimestamp = "the object has an empty timestamp, which an insert would fill in"
        /// A new document, made from an object in the skipped document, does not fit the job's schemas for the
        /// collection into which it would be inserted.
        case unfitChild = "the object does not fit the schema of the collection that would take it"
        /// The lookup collection has no entry for the link's value, or the new value in the entry cannot be a link.
        ///
        /// If the link's value is not an old value, but the new value of an entry, the link counts as already replaced.
        /// In a step with `once`, such a link does not count as replaced, and the document is skipped for this reason.
        case unknownKey = "the lookup does not know the value"
        case ambiguousKey = "the lookup gives several values"

        /// Whether the operator has to handle a document that is skipped for this reason.
        ///
        /// The result is `false` for two of the reasons. With `parentMissing`, the document has no place for the field.
        /// With `targetKept`, either the job file allows that, or the other step of a `rename` reports the document.
        package var isTrouble: Bool { self != .parentMissing && self != .targetKept }

        /// The setting of the step with which it no longer skips a document for this reason; `nil` if there is none.
        package var remedy: String? {
            switch self {
            case .rounded: "\"onLoss: allow\" writes the nearest value"
            case .ambiguous: "\"legacy: java\", \"csharp\" or \"python\" states the byte order"
            default: nil
            }
        }
    }
}

extension [CompiledStep] {
    /// Whether a document needs at least one of the steps.
    ///
    /// The condition ``CompiledStep/altered`` is evaluated once for all steps of a job.
    package var need: Expression {
        .any(
            alike.map { altered, steps in
                altered.asked { .all([.any(steps.map(\.mayNeed)), !$0]) }
            })
    }

    /// Whether a document meets ``CompiledStep/mayNeed`` of at least one step, but is skipped, because the server would
    /// alter more of it than the steps change.
    ///
    /// It is enough to evaluate the condition before the first step: no step changes a document that needs no step at
    /// that time, so the document needs no step later either.
    package var alteredAlthoughNeeded: Expression {
        .any(
            alike.map { altered, steps in
                altered.asked { .all([.any(steps.map(\.mayNeed)), $0]) }
            })
    }

    /// The steps grouped by their ``CompiledStep/altered`` condition; all steps of one job have the same condition.
    package var alike: [(altered: AlteredDocument, steps: [CompiledStep])] {
        reduce(into: []) { groups, step in
            if let index = groups.firstIndex(where: { $0.altered == step.altered }) {
                groups[index].steps.append(step)
            } else {
                groups.append((step.altered, [step]))
            }
        }
    }
}
