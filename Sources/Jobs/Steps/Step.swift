package import BSON
package import ServerSchema

/// One thing that a job does to each document that needs it.
package struct Step: Sendable {
    /// The kind of the step with its settings.
    package let kind: any StepKind
    /// The condition that a document must meet when the step comes to it; `nil` for all documents.
    package let condition: Expression?

    /// Creates a step of a kind.
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
    /// The top-level fields of the document that the condition names.
    package var conditionFields: [FieldPath] { (condition?.fields ?? []).map { FieldPath(trusted: [$0]) } }
    /// The fields whose values decide what the step does, besides its targets.
    package var reads: [FieldPath] { sources + conditionFields }
    /// The fields whose inner values the step reads, where they are objects or lists.
    package var looksInto: [FieldPath] { kind.looksInto + conditionFields }
    /// The aggregation operators that the job's own expressions use.
    package var operators: Set<String> { kind.operators.union(condition?.operators ?? []) }

    /// Returns the step with `$now` replaced by the time of the job's start, in milliseconds since 1970.
    package func settled(at now: Int64) -> Step { Step(kind.settled(at: now), where: condition?.settled(at: now)) }

    /// Returns a step of another kind for the same documents, such as a part of this step or its refresh.
    package func with(_ kind: any StepKind) -> Step { Step(kind, where: condition) }
}

extension Step: Hashable {
    /// Whether both steps do the same.
    package static func == (left: Step, right: Step) -> Bool {
        AnyHashable(left.kind) == AnyHashable(right.kind) && left.condition == right.condition
    }

    /// Hashes the kind and the condition.
    package func hash(into hasher: inout Hasher) {
        AnyHashable(kind).hash(into: &hasher)
        hasher.combine(condition)
    }
}

extension Step: CustomStringConvertible {
    /// The step in one line, without the values that it writes.
    package var description: String { kind.description + (condition == nil ? "" : ", where its condition holds") }
}

extension Step {
    /// Returns a step that fills a missing field.
    package static func `default`(field: FieldPath, value: BSONValue, nullsToo: Bool) -> Step {
        Step(DefaultStep(field: field, value: .constant(value), nullsToo: nullsToo))
    }

    /// Returns a step that copies a field's value to a second field.
    package static func copy(from: FieldPath, to: FieldPath) -> Step { Step(CopyStep(from: from, to: to)) }

    /// Returns a step that changes a field's type, in place or into a second field.
    package static func convert(field: FieldPath, to type: SchemaType, into: FieldPath?) -> Step {
        Step(ConvertStep(field: field, conversion: Conversion(target: type), into: into))
    }
}

/// The conditions and values of a step, as expressions.
///
/// ``CompiledStep`` handles the parents of target and source.
package struct StepBody {
    /// Whether the document still lacks the step and the step can be done.
    var wanted: Expression
    /// The new value of the target where the step is wanted.
    package var value: Expression
    /// The new values of further targets.
    ///
    /// For a target that stays as it is, the expression gives the value that it holds.
    var also: [(path: FieldPath, value: Expression)] = []
    /// Whether the step applies to the document at all.
    var isConcerned = Expression.constant(true)
    /// The reasons to skip a document that the step applies to.
    ///
    /// Of these and ``wanted``, at most one holds for a document.
    var conflicts: [(reason: CompiledStep.Reason, when: Expression)] = []

    /// Returns all writes to a document that needs the step.
    func writes(to target: FieldPath) -> [(path: FieldPath, value: Expression)] { [(target, value)] + also }
}
