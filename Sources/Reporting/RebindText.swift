import BSON
package import JobReports
import Jobs

/// The plan of `job rebind` as text.
///
/// `job rebind` binds a job to its collection after the collection got another UUID.
package enum RebindText {
    /// Returns a text with the earlier and the current UUID of the job's collection.
    ///
    /// The text also says how many changes in the job's journal belong to documents that are still in the collection.
    /// Without a journal, it says instead whether the last document that the job's checkpoint names is still in the
    /// collection, if this is known.
    package static func plan(_ plan: RebindPlan) -> String {
        [
            "job \(plan.job) is bound to \(plan.namespace) with the UUID \(uuid(plan.was)); "
                + "the collection there now has the UUID \(uuid(plan.now))",
            "  \(evidence(plan))",
        ].asLines
    }

    private static func evidence(_ plan: RebindPlan) -> String {
        guard plan.changes == 0 else {
            let parts = [
                "\(plan.same.grouped) to documents that are still there",
                "\(plan.gone.grouped) to documents that are gone",
                "\(plan.others.grouped) to other documents with the same _id",
            ]
            return "its journal has \(plan.changes.counted("change")): \(parts.joined(separator: ", "))"
                + (plan.unidentified == 0
                    ? "" : "; it is unknown whether the documents of \(plan.unidentified.grouped) are still the same")
        }
        return switch plan.hasLast {
        case true?: "it has no journal to compare with; the document of its last checkpoint is still there"
        case false?: "it has no journal to compare with; the document of its last checkpoint is gone"
        case nil: "it has no journal to compare with"
        }
    }

    private static func uuid(_ value: BSONValue) -> String {
        guard case .binary(_, let bytes) = value, bytes.count == 16 else { return "unknown" }
        return UUIDText.canonical(bytes)
    }
}
