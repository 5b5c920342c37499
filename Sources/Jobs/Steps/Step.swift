package import BSON
package import ServerSchema

/// One thing that a job does to each document that needs it.
package struct Step: Sendable {
    /// What it is.
    package let kind: any StepKind
    /// Which documents it is for, as they are when the step comes to them; `nil` for all.
    package let condition: Expression?

    /// Wraps a kind.
    package init(_ kind: any StepKind, where condition: Expression? = nil) {
        (self.kind, self.condition) = (kind, condition)
    }

    /// Every kind that a job file may name.
    package static let kinds: [any StepKind.Type] = [
        DefaultStep.self, CopyStep.self, RenameStep.self, ConvertStep.self, CombineStep.self, SplitStep.self,
        WrapStep.self, UnwrapStep.self, DedupeStep.self, DropNullsStep.self, UnsetStep.self,
        RemapLinkStep.self, ExpressionStep.self, EmbedStep.self, ExtractStep.self,
    ]

    /// The field that the step writes.
    package var target: FieldPath { kind.target }
    /// The field that the step reads besides its target.
    package var source: FieldPath? { kind.source }
    /// The fields that the step writes.
    package var targets: [FieldPath] { kind.targets }
    /// The fields that the step reads besides its targets.
    package var sources: [FieldPath] { kind.sources }
    /// The fields of the document that its condition names.
    package var conditionFields: [FieldPath] { (condition?.fields ?? []).map { FieldPath(trusted: [$0]) } }
    /// The fields whose values decide what the step does, besides its targets.
    package var reads: [FieldPath] { sources + conditionFields }
    /// The fields whose values the step looks into, where those are objects or lists.
    package var looksInto: [FieldPath] { kind.looksInto + conditionFields }
    /// The operators that the job's own expressions use.
    package var operators: Set<String> { kind.operators.union(condition?.operators ?? []) }

    /// The step with the time of the job's start in the place of `$now`, in milliseconds since 1970.
    package func settled(at now: Int64) -> Step { Step(kind.settled(at: now), where: condition?.settled(at: now)) }

    /// A part of the step, or the step as it is run again, for the same documents.
    package func with(_ kind: any StepKind) -> Step { Step(kind, where: condition) }
}

extension Step: Hashable {
    /// Whether the two do the same.
    package static func == (left: Step, right: Step) -> Bool {
        AnyHashable(left.kind) == AnyHashable(right.kind) && left.condition == right.condition
    }

    /// Hashes both.
    package func hash(into hasher: inout Hasher) {
        AnyHashable(kind).hash(into: &hasher)
        hasher.combine(condition)
    }
}

extension Step: CustomStringConvertible {
    /// The step in a line, without the values that it writes.
    package var description: String { kind.description + (condition == nil ? "" : ", where its condition holds") }
}

extension Step {
    /// Fills a field that is not there.
    package static func `default`(field: FieldPath, value: BSONValue, nullsToo: Bool) -> Step {
        Step(DefaultStep(field: field, value: .constant(value), nullsToo: nullsToo))
    }

    /// Gives a second field the value of a first.
    package static func copy(from: FieldPath, to: FieldPath) -> Step { Step(CopyStep(from: from, to: to)) }

    /// Changes a field's type, in place or into a second field.
    package static func convert(field: FieldPath, to type: SchemaType, into: FieldPath?) -> Step {
        Step(ConvertStep(field: field, conversion: Conversion(target: type), into: into))
    }
}

/// What a step finds in a document and writes to its target; the parents of target and source are looked after by
/// ``CompiledStep``.
package struct StepBody {
    /// Whether the document lacks the step, and the step can do it.
    var wanted: Expression
    /// What the target becomes where the step is wanted.
    package var value: Expression
    /// What further targets become; where a target has nothing to become, it says so by the value that it holds.
    var also: [(path: FieldPath, value: Expression)] = []
    /// Whether the step has anything to do with the document at all.
    var isConcerned = Expression.constant(true)
    /// Why a document that the step is about is left alone; no two hold for one document, nor one beside ``wanted``.
    var conflicts: [(reason: CompiledStep.Reason, when: Expression)] = []

    /// All that is written where the step is wanted.
    func writes(to target: FieldPath) -> [(path: FieldPath, value: Expression)] { [(target, value)] + also }
}
