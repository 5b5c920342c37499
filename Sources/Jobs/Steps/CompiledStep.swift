package import BSON
import Concurrency
package import ServerSchema

/// A step as the server runs it: which documents need it, what it writes, and what it must leave alone.
package struct CompiledStep: Sendable {
    /// What the step does.
    package let step: Step
    /// Whether a document still lacks the step, and the step can do it.
    package let needs: Expression
    /// The same without asking whether a name stands twice, which costs four times the rest: for who reads, not for a write.
    package let mayNeed: Expression
    /// The update stage: writes where ``needs`` holds, and else leaves each value as it is.
    package let stage: BSONDocument
    /// The update stage of a write whose filter holds ``needs`` of this step or of one beside it: that no name stands twice
    /// is not asked again, which costs as much as the update itself.
    package let writeStage: BSONDocument
    /// The update stage of a write whose filter holds ``needs`` of this step alone: nothing is asked again.
    package let soleStage: BSONDocument
    /// Whether a document is left alone, per reason.
    ///
    /// For a field that is reached through objects alone no two hold for one document, nor one beside ``needs``. Of the
    /// elements of a list each may have its own, beside others that need the step.
    package let leftAlone: [(reason: Reason, when: Expression)]
    /// What the client computes of the documents that ``needs`` holds for; `nil` for a step that ``stage`` runs.
    package var client: (any ClientComputation)?
    /// Where the job file says so; `nil` for a step that no file states.
    package var location: SourceLocation?

    /// Compiles a step.
    /// - Parameter others: the steps of the job. Each stage gives back what it does not change, and mongod 6.0 does not
    ///   give back an object truly in which a name stands twice, once something has looked into it.
    package init(_ step: Step, among others: [Step] = []) {
        self.step = step
        let (targets, sources) = (step.targets, step.sources)
        let containers = step.target.containers
        let body = step.kind.body()
        client = step.kind.clientComputation
        let isReachable = Expression.every(targets.map(\.isReachable))
        let repeated = Self.repeatedName(in: [step] + others)
        let wanted = isReachable && body.wanted
        let unmarked = step.kind.marker.map { Expression.field($0).isMissing }
        let inElement = { Expression.inSomeElement(of: containers, $0) }
        // First of all: what the step is not for, nothing else is asked of.
        let guards = [step.condition, unmarked].compactMap(\.self)
        let needed = Expression.all(guards + [inElement(wanted)])
        mayNeed = needed
        needs = .all([needed, !repeated])
        let (written, inElements) =
            FaultInjection.isPlanted(.noNeeds)
            ? (Expression.all(guards + [inElement(isReachable), !repeated]), isReachable) : (needs, wanted)
        var writes = Self.lifted(body.writes(to: step.target), if: inElements, through: containers)
        if let marker = step.kind.marker { writes.append((marker, .constant(true))) }
        let fields = Assignment(writes: writes).fields
        func stage(if condition: Expression?) -> BSONDocument {
            let values = fields.map { name, value in
                let kept = Expression.field(FieldPath(trusted: [name]))
                // An object that stands here unwrapped would be set field by field, in each element of a list that is there.
                let condition = condition ?? (value.isOperator ? nil : .constant(true))
                return (name, (condition.map { .choose(if: $0, then: value, else: kept) } ?? value).bson)
            }
            return ["$set": .object(BSONDocument(values))]
        }
        self.stage = stage(if: written)
        let isPlanted = FaultInjection.isPlanted(.noNeeds)
        writeStage = stage(if: isPlanted ? written : needed)
        soleStage = stage(if: isPlanted ? written : nil)
        let unreachable = Self.unreachable(targets: targets, sources: sources, isConcerned: body.isConcerned)
        leftAlone =
            (body.conflicts.map { ($0.reason, isReachable && $0.when) } + unreachable)
            .map { ($0.reason, Expression.all(guards + [inElement($0.when)])) }
            + [(.repeatedName, .all([needed, repeated]))]
            + Self.noContainer(containers).map { ($0.reason, .all(guards + [$0.when])) }
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
        /// A field name stands twice in the document, or in a parent of the target or the source.
        ///
        /// Merging would lose one of the two, mongod 6.0 aborts when it words the difference of such an update, and which
        /// of the two an expression reads is not said.
        case repeatedName = "a field name stands twice"
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
        let seenInto = steps.flatMap(\.looksInto).filter { seen.insert($0).inserted }.map { path in
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
