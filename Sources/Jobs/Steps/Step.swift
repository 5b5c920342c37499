package import BSON
package import ServerSchema

/// One change that a job makes to each document that needs it.
package struct Step: Sendable {
    package let kind: any StepKind
    /// The condition that a document must meet for the step to apply; `nil` if it applies to all documents.
    package let condition: Expression?
    /// Whether the program found the field for a step at any depth, so that a document without it is not reported.
    package var isFound = false

    /// Creates a step of a kind; with a condition, the step applies only to documents that meet the condition.
    package init(_ kind: any StepKind, where condition: Expression? = nil) {
        (self.kind, self.condition) = (kind, condition)
    }

    /// The kinds of steps that a job file may name, each with a key of its own, such as `rename`.
    package static let kinds: [any StepKind.Type] = [
        DefaultStep.self, CopyStep.self, RenameStep.self, ConvertStep.self, CombineStep.self, SplitStep.self,
        WrapStep.self, UnwrapStep.self, DedupeStep.self, DropNullsStep.self, UnsetStep.self,
        MapStep.self, ExpressionStep.self, CasesStep.self, EmbedStep.self, ExtractStep.self,
    ]

    /// The field that the step writes; the first one, if it writes several.
    package var target: FieldPath { kind.target }
    /// The only field that the step reads in addition to its target; `nil` if it reads none, or may read several.
    package var source: FieldPath? { kind.source }
    /// The fields that the step writes, without the field that marks a document as done.
    package var targets: [FieldPath] { kind.targets }
    /// All fields that the step reads in addition to its targets and ``conditionFields``.
    package var sources: [FieldPath] { kind.sources }
    /// The top-level fields of the document that the step's ``condition`` reads.
    package var conditionFields: [FieldPath] {
        (condition?.fields ?? []).map { FieldPath(trusted: [$0]) }
            + ((kind as? CasesStep)?.cases.flatMap(\.conditionFields) ?? [])
    }
    /// The fields whose values decide what the step does, apart from its targets.
    package var reads: [FieldPath] { sources + conditionFields }
    /// The fields that may hold objects or lists whose content the step reads.
    package var readsInside: [FieldPath] { kind.readsInside + conditionFields }
    /// The aggregation operators that the expressions in the job file use.
    package var operators: Set<String> { kind.operators.union(condition?.operators ?? []) }

    /// Returns the step with `$now` and `$$NOW` replaced by the time of the job's start, in milliseconds since 1970.
    package func resolved(at now: Int64) -> Step {
        var step = Step(kind.resolved(at: now), where: condition?.resolved(at: now))
        step.isFound = isFound
        return step
    }

    /// Returns a step that has another kind and the same condition, such as one of the parts of this step.
    package func with(_ kind: any StepKind) -> Step {
        var step = Step(kind, where: condition)
        step.isFound = isFound
        return step
    }
}

extension Step: Hashable {
    /// Whether two steps have the same kind, settings and condition, so that they make the same changes.
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
/// ``CompiledStep`` adds the tests whether the parents of the targets are objects.
package struct StepBody {
    /// Whether the document needs the step, and none of the ``conflicts`` prevents the step.
    var wanted: Expression
    /// The new value of the target in a document for which ``wanted`` holds.
    package var value: Expression
    /// The fields that the step writes in addition to the target, with their new values.
    ///
    /// For a field that stays as it is, the expression gives its present value.
    var also: [(path: FieldPath, value: Expression)] = []
    /// Whether the step applies to the document.
    ///
    /// If the step does not apply, a missing parent of a field is not reported.
    var applies = Expression.constant(true)
    /// The reasons to skip a document that the step applies to, each with its condition.
    ///
    /// No two of these conditions hold for the same document, and none of them holds together with ``wanted``.
    var conflicts: [(reason: CompiledStep.Reason, when: Expression)] = []

    func writes(to target: FieldPath) -> [(path: FieldPath, value: Expression)] { [(target, value)] + also }
}
