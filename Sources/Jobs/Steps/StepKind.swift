package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// A kind of step: its settings in a job file, and the change that it makes to a document.
///
/// The kinds are in the files below `Kinds`; ``Step/kinds`` lists the kinds that a job file may name.
package protocol StepKind: Hashable, Sendable, CustomStringConvertible {
    static var key: String { get }

    /// Reads the settings that a job file states under the kind's key.
    /// - Throws: ``JobError`` with line and column.
    init(_ node: YAMLNode) throws(JobError)

    /// Reads the settings that a job file states under the kind's key; if several kinds have the same key, the settings
    /// choose the kind.
    /// - Returns: one step, or one for each of the fields that the settings list.
    /// - Throws: ``JobError`` with line and column.
    static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind]

    /// The field that the step writes; the first one, if it writes several.
    var target: FieldPath { get }
    /// The only field that the step reads in addition to its target; `nil` if it reads none, or may read several.
    var source: FieldPath? { get }
    /// The fields that the step writes, without ``marker``; ``target`` comes first.
    ///
    /// If the fields are in elements of a list or dictionary, all of them are in the same element.
    var targets: [FieldPath] { get }
    /// The fields that the step reads in addition to its targets.
    ///
    /// If the targets are in an element of a list or dictionary, these fields are in the same element.
    var sources: [FieldPath] { get }
    /// The step that a refresh runs; `nil` for a step without a refresh.
    ///
    /// A refresh writes a target whose source has changed, if the target still holds the job's own value.
    var refresh: (any StepKind)? { get }
    /// The fields that may hold objects or lists whose content the step reads.
    var readsInside: [FieldPath] { get }
    /// Whether the step changes or replaces a value that its target already holds; `false`, for example, for a step
    /// that only fills missing or null fields.
    var changesInPlace: Bool { get }
    /// The ``targets`` that the step removes.
    var removed: [FieldPath] { get }
    /// The field that marks a document as done; `nil` if the new value itself shows that the step is done.
    ///
    /// The step writes the marker in the same update, and `job cleanup` removes it.
    var marker: FieldPath? { get }
    /// Whether the job file states the step's change by an aggregation expression.
    ///
    /// If `true`, a document might need the step again after the step's own write.
    var isFreeForm: Bool { get }
    /// The aggregation operators that the expressions in the job file use.
    var operators: Set<String> { get }
    /// The collections that the step reads or writes in addition to the job's own collection.
    var namespaces: [Namespace] { get }
    /// Returns the step for the database `database`: each collection of the database `own` is replaced by the
    /// collection with the same name in `database`.
    func moved(from own: String, to database: String) -> Self
    /// The skip reasons that prevent the job's start: the job does not start if one of them applies to a document.
    var refuses: Set<CompiledStep.Reason> { get }
    /// Returns the step with `$now` and `$$NOW` replaced by the time of the job's start, in milliseconds since 1970.
    func resolved(at now: Int64) -> Self

    /// Returns the step with its constants in the type that the next schema declares for the target.
    /// - Throws: ``JobError`` at `location` if the step does not fit that type.
    func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self

    /// Returns the conditions and values of the step, as expressions.
    func body() -> StepBody

    /// Whether the schema alone proves that every document that syncs before the step also syncs after it.
    ///
    /// This method is called only if the schema declares the target, and if the target's parents are objects or have no
    /// stated type.
    func leavesSyncing(under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions) -> Bool

    /// The fields that the step may write or remove; the journal keeps the top-level fields that contain them.
    var touched: [FieldPath] { get }
    /// Whether the step may remove or move a top-level field; if so, the journal also keeps the order of the fields.
    var removesFields: Bool { get }
    /// A text for the operator about the information that the step loses, shown before the job starts; `nil` if the
    /// step loses none.
    var loss: String? { get }

    /// The steps that carry out this step, in order; for most kinds, the step itself.
    var parts: [any StepKind] { get }
    /// The client's computation of the step's value; `nil` for a step that the server runs by itself.
    ///
    /// If there is a computation, ``body()`` only selects the documents for the client, and the value in ``body()`` is
    /// ignored.
    var clientComputation: ClientComputation? { get }
    /// The skip reasons that only the client can detect.
    var clientReasons: [CompiledStep.Reason] { get }
    /// The collection that the client inserts documents into for the step; `nil` if it inserts none.
    var creates: Namespace? { get }
    /// Whether the value that the step wrote shows which value was in the field before.
    ///
    /// If `true`, undo can detect from the written value whether the update replaced the journaled value or another
    /// one. If `false`, undo cannot, so the job's update changes a document only if the fields are still exactly as in
    /// the journal.
    var determinesOldValue: Bool { get }
    /// The field that the step reads in all documents before the job's first write; `nil` if there is none.
    var readsBeforehand: FieldPath? { get }
    /// Cheap query conditions that the server can test before it evaluates whether a document needs the step.
    var quick: QuickCondition { get }

    /// The field whose value the step moves to its target; `nil` for a step that moves no value.
    var movedFrom: FieldPath? { get }
    /// The value that the step writes to a missing target; `nil` for a step that computes its value.
    var filling: DefaultStep.Filling? { get }
    /// The conversion that the step applies to its target in place; `nil` if it applies none.
    ///
    /// The value is also `nil` for a conversion of UUIDs, and if the step replaces values that it cannot convert.
    var inPlaceConversion: Conversion? { get }
    /// The reasons why the step cannot convert a value, if ``StepBody/conflicts`` names them all
    /// ``CompiledStep/Reason/noValue``; exactly one of the conditions holds for each such value.
    var losses: [(reason: CompiledStep.Reason, when: Expression)] { get }
    /// The collection whose documents the step embeds; `nil` if the step embeds none.
    var embeddedCollection: Namespace? { get }
    /// The field whose values the step replaces by links to documents that the step inserts; `nil` if it inserts none.
    var linksToCreated: FieldPath? { get }
    /// Whether a document might still need the step after the step's own write, as far as the step's settings show.
    var mayBeNeededAgain: Bool { get }
    /// Returns the step adapted to later steps of the job.
    ///
    /// For example, a copy accepts a target whose value a later step has already changed.
    func followed(by later: [Step]) -> any StepKind
    /// Whether this step, which has `whenPresent: refresh`, writes the value that the target has after `conversion`.
    ///
    /// `conversion` is another step of the job, which converts the target in place. If the result is `true`, the two
    /// steps do not undo each other's changes.
    func refreshIncludes(_ conversion: any StepKind) -> Bool
}

extension StepKind {
    package static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind] { [try Self(node)] }
    package var source: FieldPath? { nil }
    package var targets: [FieldPath] { [target] }
    package var sources: [FieldPath] { source.map { [$0] } ?? [] }
    package var readsInside: [FieldPath] { [] }
    package var refresh: (any StepKind)? { nil }
    package var changesInPlace: Bool { false }
    package var removed: [FieldPath] { [] }
    package var marker: FieldPath? { nil }
    package var isFreeForm: Bool { false }
    package var operators: Set<String> { [] }
    package var namespaces: [Namespace] { [] }
    package func moved(from own: String, to database: String) -> Self { self }
    package var refuses: Set<CompiledStep.Reason> { [] }
    package func resolved(at now: Int64) -> Self { self }
    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self { self }
    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool { false }
    package var touched: [FieldPath] { targets + (marker.map { [$0] } ?? []) }
    package var removesFields: Bool { removed.contains { $0.components.count == 1 } }
    package var loss: String? { nil }
    package var parts: [any StepKind] { [self] }
    package var clientComputation: ClientComputation? { nil }
    package var clientReasons: [CompiledStep.Reason] { [] }
    package var creates: Namespace? { nil }
    package var readsBeforehand: FieldPath? { nil }
    package var quick: QuickCondition { QuickCondition() }
    package var determinesOldValue: Bool { loss == nil }
    package var movedFrom: FieldPath? { nil }
    package var filling: DefaultStep.Filling? { nil }
    package var inPlaceConversion: Conversion? { nil }
    package var losses: [(reason: CompiledStep.Reason, when: Expression)] { [] }
    package var embeddedCollection: Namespace? { nil }
    package var linksToCreated: FieldPath? { nil }
    package var mayBeNeededAgain: Bool { isFreeForm }
    package func followed(by later: [Step]) -> any StepKind { self }
    package func refreshIncludes(_ conversion: any StepKind) -> Bool { false }
}
