package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// One kind of step: what a job file says under its key, and what that means for a document.
///
/// A kind has a file of its own below `Kinds`; ``Step/kinds`` lists them all.
package protocol StepKind: Hashable, Sendable, CustomStringConvertible {
    /// The key that names the kind in a job file.
    static var key: String { get }

    /// Reads what a job file says under the key.
    /// - Throws: ``JobError`` with line and column.
    init(_ node: YAMLNode) throws(JobError)

    /// Reads what a job file says under the key, where it can mean more than one kind.
    /// - Throws: ``JobError`` with line and column.
    static func read(_ node: YAMLNode) throws(JobError) -> any StepKind

    /// The field that the step writes.
    var target: FieldPath { get }
    /// The field that the step reads besides its target.
    var source: FieldPath? { get }
    /// The fields that the step writes, ``target`` first; they stand in the same element of a list or dictionary, if in
    /// any.
    var targets: [FieldPath] { get }
    /// The fields that the step reads besides its targets; they stand where the targets stand.
    var sources: [FieldPath] { get }
    /// The step as it is run again over a target that the job itself wrote, and whose source has changed since; `nil` for
    /// one whose targets stay as they are.
    var refresh: (any StepKind)? { get }
    /// The fields whose values the step looks into, where those are objects or lists.
    var looksInto: [FieldPath] { get }
    /// Whether what the step writes depends on what stood in the target.
    var changesInPlace: Bool { get }
    /// Those of ``targets`` that the step takes away.
    var removed: [FieldPath] { get }
    /// The field of the document that says that the step is done, written in the same update and removed by `cleanup`;
    /// for a step whose need would not end by itself.
    var marker: FieldPath? { get }
    /// Whether a job may say anything there, so that the step may go on from its own result.
    var isFreeForm: Bool { get }
    /// The operators that the job's own expressions use.
    var operators: Set<String> { get }
    /// The collections that the step reads or writes beside the job's.
    var namespaces: [Namespace] { get }
    /// The step with the collections of another database in the place of those of `own`.
    func moved(from own: String, to database: String) -> Self
    /// The reasons for which not one document may be left alone: with one such document the job does not start.
    var refuses: Set<CompiledStep.Reason> { get }
    /// The step with the time of the job's start in the place of `$now`, in milliseconds since 1970.
    func settled(at now: Int64) -> Self

    /// The step with its constants as the type that the next schema declares for the target.
    /// - Throws: ``JobError`` at `location` when the two do not go together.
    func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self

    /// What the step finds and writes, as expressions.
    func body() -> StepBody

    /// Whether the step, as told from the schema alone, leaves every document syncing that syncs.
    ///
    /// Asked only for a target that the schema declares and that every parent leads to.
    func leavesSyncing(under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions) -> Bool

    /// The fields that the step may write or take away: what the journal keeps of a document, by their top level.
    var touched: [FieldPath] { get }
    /// Whether the step may take a field of the document itself away, or move it: then the journal keeps positions.
    var removesFields: Bool { get }
    /// What of a document is lost by the step, as it is told before the start; `nil` where nothing is.
    var loss: String? { get }

    /// The steps that the server runs for this one, in their order.
    var parts: [any StepKind] { get }
    /// What the client computes where the server's operators cannot; `nil` for a step that the server runs.
    ///
    /// The body then says which documents are handed to it, and its value is not looked at.
    var clientComputation: (any ClientComputation)? { get }
    /// Whether what the step writes tells what stood there before, so that undo sees when it was another value than the
    /// journaled one; else a document is written only while it is as it was journaled.
    var tellsWhatWas: Bool { get }
    /// The field that the step looks at in all documents before the job's first write; `nil` where it does not.
    var looksAtBeforehand: FieldPath? { get }
    /// What the server can ask first, and cheaper than whether the step is needed.
    var quick: QuickCondition { get }
}

extension StepKind {
    package static func read(_ node: YAMLNode) throws(JobError) -> any StepKind { try Self(node) }
    package var source: FieldPath? { nil }
    package var targets: [FieldPath] { [target] }
    package var sources: [FieldPath] { source.map { [$0] } ?? [] }
    package var looksInto: [FieldPath] { [] }
    package var refresh: (any StepKind)? { nil }
    package var changesInPlace: Bool { false }
    package var removed: [FieldPath] { [] }
    package var marker: FieldPath? { nil }
    package var isFreeForm: Bool { false }
    package var operators: Set<String> { [] }
    package var namespaces: [Namespace] { [] }
    package func moved(from own: String, to database: String) -> Self { self }
    package var refuses: Set<CompiledStep.Reason> { [] }
    package func settled(at now: Int64) -> Self { self }
    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self { self }
    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool { false }
    package var touched: [FieldPath] { targets + (marker.map { [$0] } ?? []) }
    package var removesFields: Bool { removed.contains { $0.components.count == 1 } }
    package var loss: String? { nil }
    package var parts: [any StepKind] { [self] }
    package var clientComputation: (any ClientComputation)? { nil }
    package var looksAtBeforehand: FieldPath? { nil }
    package var quick: QuickCondition { QuickCondition() }
    package var tellsWhatWas: Bool { loss == nil }
}
