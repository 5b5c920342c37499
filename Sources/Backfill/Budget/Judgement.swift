import BSON
import Checking
import Jobs
import Steps

/// What the budget found of one document that needs the job.
enum Judgement: Hashable {
    /// It syncs under the active schema as it is and would not as it would be.
    case harmful
    /// A step that can do harm changes it without doing any: it fails already, or its values fit. A user may change it
    /// before it is written, and make it harmful.
    case atRisk
    /// No step that can do harm changes it.
    ///
    /// Written by the other steps alone, and so whatever a user makes of it meanwhile: each of them is proven to leave a
    /// document syncing.
    case harmless

    /// Whether the document is recorded before it is written, and takes room until it is known to be unharmed, or the
    /// ledger shows it.
    var isCounted: Bool { self != .harmless }

    /// Judges a document as it is and as it would be.
    init(_ change: DueDocument.Change, of phase: Phase, under active: CompiledSchema) throws {
        let isTouched = try phase.riskySteps.flatMap(\.step.kind.touched).contains { target in
            let (old, new) = (try change.before.value(at: target), try change.after.value(at: target))
            return if let old, let new { !old.hasSameBytes(as: new) } else { old != new }
        }
        guard isTouched else {
            self = .harmless
            return
        }
        let isHarmed = try active.check(change.before.view) != .certain && active.check(change.after.view) == .certain
        self = isHarmed ? .harmful : .atRisk
    }
}
