package import BSON
import ServerSchema

/// A step as the server runs it: which documents need it, what it writes, and what it must leave alone.
package struct CompiledStep: Sendable {
    /// Why a document that the step is about is left alone.
    package enum Reason: String, Sendable, CaseIterable {
        /// The value has no counterpart in the new type, or only with loss.
        case notConvertible = "not convertible without loss"
        /// The target holds another value already.
        case targetDiffers = "target holds another value"
        /// A parent of the target, or of the source, is of another type than object.
        case parentNotObject = "parent is not an object"
        /// A field name stands twice in the document, or in a parent of the target or the source.
        ///
        /// Merging would lose one of the two, mongod 6.0 aborts when it words the difference of such an update, and which
        /// of the two an expression reads is not said.
        case repeatedName = "a field name stands twice"
        /// A parent of the target is missing or null: it is never created.
        case parentMissing = "parent is missing"

        /// Whether such a document remains for the operator to see to; a parent that is absent has nothing to fill.
        package var isTrouble: Bool { self != .parentMissing }
    }

    /// What the step does.
    package let step: Step
    /// Whether a document still lacks the step, and the step can do it.
    package let needs: Expression
    /// The update stage: writes where ``needs`` holds, and else leaves each value as it is.
    package let stage: BSONDocument
    /// Whether a document is left alone, per reason; no two hold for one document.
    package let leftAlone: [(reason: Reason, when: Expression)]
    /// What the client computes of the documents that ``needs`` holds for; `nil` for a step that ``stage`` runs.
    var client: (any ClientTransform)?

    /// Compiles a step.
    /// - Parameter parents: the parents of the targets of all steps of the job. Each stage gives back what it does not
    ///   change, and mongod 6.0 does not give back an object truly in which a name stands twice.
    package init(_ step: Step, amongParents parents: [FieldPath] = []) {
        self.step = step
        let repeated = Self.repeatedName(in: parents + step.target.parents + (step.source?.parents ?? []))
        let target = step.target
        let body = step.kind.body()
        client = step.kind.clientTransform
        needs = .all([target.isReachable, body.wanted, !repeated])
        let isWritten = PlantedBug.noNeeds.isPlanted ? .all([target.isReachable, !repeated]) : needs
        stage = ["$set": .object(target.assignment(body.value, if: isWritten))]
        leftAlone =
            body.conflicts.map { ($0.reason, target.isReachable && $0.when) }
            + [(.repeatedName, .all([target.isReachable, body.wanted, repeated]))]
            + Self.unreachable(target: target, source: step.source, isConcerned: body.isConcerned)
    }

    /// Whether a name stands twice in the document, or in one of these where it is an object.
    ///
    /// Merging an object keeps one of each name, and so makes it smaller where one stood twice.
    private static func repeatedName(in parents: [FieldPath]) -> Expression {
        func shrinks(_ object: Expression) -> Expression {
            !(Expression(["$bsonSize": object.bson]) == Expression(["$bsonSize": ["$mergeObjects": [object.bson]]]))
        }
        var seen: Set<FieldPath> = []
        let inner = parents.filter { seen.insert($0).inserted }.map { parent in
            Expression.all([parent.isReachable, Expression.field(parent).hasType("object"), shrinks(.field(parent))])
        }
        return .any([shrinks(.variable("ROOT"))] + inner)
    }

    /// Where a parent is no object.
    ///
    /// A source that has a parent of another type is told too, as what stands below it is not read; a source whose
    /// parent is missing is no source.
    private static func unreachable(
        target: FieldPath, source: FieldPath?, isConcerned: Expression
    ) -> [(reason: Reason, when: Expression)] {
        let other = [
            source?.blocked { !$0.isMissingOrNull && !$0.hasType("object") },
            target.blocked { !$0.isMissingOrNull && !$0.hasType("object") }.map { isConcerned && $0 },
        ].compactMap(\.self)
        let missing = target.blocked { $0.isMissingOrNull }.map { isConcerned && $0 }
        return (other.isEmpty ? [] : [(.parentNotObject, .any(other))]) + (missing.map { [(.parentMissing, $0)] } ?? [])
    }
}

extension FieldPath {
    /// Whether every parent is an object; evaluated from the root down, so that a path never leads through an array.
    var isReachable: Expression {
        parents.isEmpty ? .constant(true) : .all(parents.map { Expression.field($0).hasType("object") })
    }

    /// A `$set` specification that puts `value` at the path where `condition` holds, and else changes nothing.
    ///
    /// A dotted `$set` makes an object of whatever the parent is. Merging into the parent does not, and `condition` has to
    /// say that it **is** an object; where it does not hold the outermost field is given back as it was.
    func assignment(_ value: Expression, if condition: Expression) -> BSONDocument {
        let merged = zip(parents, components.dropFirst()).reversed().reduce(value) { value, place in
            .call("$mergeObjects", .field(place.0), Expression([place.1: value.bson]))
        }
        let outermost = parents.first ?? self
        return [components[0]: Expression.choose(if: condition, then: merged, else: .field(outermost)).bson]
    }

    /// Whether the outermost parent that is no object is `such`; `nil` for a field of the document itself.
    func blocked(_ such: (Expression) -> Expression) -> Expression? {
        guard !parents.isEmpty else { return nil }
        return .any(
            parents.indices.map { index in
                .all(parents[..<index].map { Expression.field($0).hasType("object") } + [such(.field(parents[index]))])
            })
    }
}
