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

    /// Reads what a job file says under the key, which may stand for one of several kinds.
    /// - Throws: ``JobError`` with line and column.
    static func read(_ node: YAMLNode) throws(JobError) -> any StepKind

    /// The field that the step writes.
    var target: FieldPath { get }
    /// The field that the step reads besides its target.
    var source: FieldPath? { get }
    /// The fields that the step writes, ``target`` first; if in elements of a list or dictionary, then in the same one.
    var targets: [FieldPath] { get }
    /// The fields that the step reads besides its targets. They are in the same element as the targets.
    var sources: [FieldPath] { get }
    /// The step that a refresh runs over targets that the job itself wrote and whose sources have changed since; `nil`
    /// for a step whose targets stay as they are.
    var refresh: (any StepKind)? { get }
    /// The fields whose inner values the step reads, where they are objects or lists.
    var looksInto: [FieldPath] { get }
    /// Whether the step changes or replaces a value that its target already holds. A filled null does not count.
    var changesInPlace: Bool { get }
    /// The ``targets`` that the step removes.
    var removed: [FieldPath] { get }
    /// The field that marks a document as done, written in the same update and removed by `cleanup`; `nil` for a step
    /// whose need ends by itself.
    var marker: FieldPath? { get }
    /// Whether the job file states the change freely, so that a document might need the step again after the step's
    /// own write.
    var isFreeForm: Bool { get }
    /// The aggregation operators that the job's own expressions use.
    var operators: Set<String> { get }
    /// The collections that the step reads or writes besides the job's own.
    var namespaces: [Namespace] { get }
    /// Returns the step with each collection of database `own` replaced by the same collection of another database.
    func moved(from own: String, to database: String) -> Self
    /// The skip reasons that the step does not tolerate: the job does not start if one of them applies to a document.
    var refuses: Set<CompiledStep.Reason> { get }
    /// Returns the step with `$now` replaced by the time of the job's start, in milliseconds since 1970.
    func settled(at now: Int64) -> Self

    /// Returns the step with its constants in the type that the next schema declares for the target.
    /// - Throws: ``JobError`` at `location` if the step does not fit that type.
    func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self

    /// Returns the step's conditions and values as expressions.
    func body() -> StepBody

    /// Whether the schema alone proves that every document that syncs still syncs after the step.
    ///
    /// Called only for a target that the schema declares and whose parents are all objects.
    func leavesSyncing(under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions) -> Bool

    /// The fields that the step may write or remove. The journal keeps their top-level fields of each document.
    var touched: [FieldPath] { get }
    /// Whether the step may remove or move a top-level field of the document; then the journal keeps positions.
    var removesFields: Bool { get }
    /// The information that the step loses, as shown before the start; `nil` if it loses none.
    var loss: String? { get }

    /// The steps that carry out this one, in order.
    var parts: [any StepKind] { get }
    /// The computation that the client does for the server; `nil` for a step that the server runs itself.
    ///
    /// ``body()`` then says which documents the client gets, and its value is ignored.
    var clientComputation: (any ClientComputation)? { get }
    /// Whether the written value determines the value it replaced, so that undo can detect that the replaced value was
    /// not the journaled one; otherwise a document is written only if it still is as journaled.
    var tellsWhatWas: Bool { get }
    /// The field that the step reads in all documents before the job's first write; `nil` if it reads none.
    var looksAtBeforehand: FieldPath? { get }
    /// Cheap conditions that the server can check before it evaluates whether a document needs the step.
    var quick: QuickCondition { get }

    /// The field whose value the step moves to its target; `nil` for a step that moves no field.
    var movedFrom: FieldPath? { get }
    /// The value that the step fills a missing target with; `nil` for a step that computes its value.
    var filling: DefaultStep.Filling? { get }
    /// The conversion that the step applies to its target in place, where values that it cannot convert stay; `nil` if
    /// it applies none.
    var inPlaceConversion: Conversion? { get }
    /// The conditions for documents with a value that the step's conversion skips, one for each kind of loss.
    var losses: [(kind: ConversionLoss, when: Expression)] { get }
    /// The collection whose documents the step embeds; `nil` if it embeds none.
    var embeddedCollection: Namespace? { get }
    /// The field that the step replaces by links to documents that it creates; `nil` if it creates none.
    var linksToCreated: FieldPath? { get }
    /// Whether the form of the step does not prove that a document no longer needs it after the step's own write.
    var mayBeNeededAgain: Bool { get }
    /// Whether the step may write again over its own values, because it computes them from other fields.
    var mayRewrite: Bool { get }
    /// Returns the step with what it has to know of the steps after it.
    func followed(by later: [any StepKind]) -> any StepKind
    /// Whether a refresh of the step takes into account that a later step converts its target in place.
    func isRefreshed(beside conversion: any StepKind) -> Bool
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
    package var movedFrom: FieldPath? { nil }
    package var filling: DefaultStep.Filling? { nil }
    package var inPlaceConversion: Conversion? { nil }
    package var losses: [(kind: ConversionLoss, when: Expression)] { [] }
    package var embeddedCollection: Namespace? { nil }
    package var linksToCreated: FieldPath? { nil }
    package var mayBeNeededAgain: Bool { isFreeForm }
    package var mayRewrite: Bool { !sources.isEmpty || !removed.isEmpty || isFreeForm }
    package func followed(by later: [any StepKind]) -> any StepKind { self }
    package func isRefreshed(beside conversion: any StepKind) -> Bool { false }
}
