package import BSON
package import ServerSchema

/// One thing that a job does to each document that needs it.
package struct Step: Sendable {
    /// What it is.
    package let kind: any StepKind

    /// Wraps a kind.
    package init(_ kind: any StepKind) { self.kind = kind }

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
}

extension Step: Hashable {
    /// Whether the two do the same.
    package static func == (left: Step, right: Step) -> Bool { AnyHashable(left.kind) == AnyHashable(right.kind) }

    /// Hashes the kind.
    package func hash(into hasher: inout Hasher) { AnyHashable(kind).hash(into: &hasher) }
}

extension Step: CustomStringConvertible {
    /// The step in a line, without the values that it writes.
    package var description: String { kind.description }
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
