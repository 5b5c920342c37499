import BSON
package import JobReports

/// The texts about a cleanup, which drops the data that a finished job left in the databases.
package enum CleanupText {
    /// Returns a list of the data that the cleanup would drop, and of the reservations that it would keep.
    ///
    /// The list also says what the cleanup makes impossible, such as an undo.
    package static func plan(_ plan: CleanupPlan) -> String {
        list(plan, below: "cleanup of job \(plan.job) drops:")
    }

    /// Returns a list of the data that the cleanup has dropped, and of the reservations that it has kept.
    package static func done(_ plan: CleanupPlan) -> String {
        list(plan, below: "job \(plan.job) is cleaned up; dropped:")
    }

    private static func list(_ plan: CleanupPlan, below title: String) -> String {
        ([title] + (parts(plan) + kept(plan)).map { "  \($0)" }).asLines
    }

    /// Returns the text for a job that left no data to drop.
    package static func nothing(_ plan: CleanupPlan) -> String {
        (["job \(plan.job) has nothing to drop"] + kept(plan)).asLines
    }

    private static func parts(_ plan: CleanupPlan) -> [String] {
        var parts: [String] = []
        if plan.journal > 0 {
            parts.append("its journal (\(plan.journal.documents)): the job can no longer be undone")
        }
        if plan.skipped > 0 { parts.append("the records of \(plan.skipped.documents) that were skipped") }
        if plan.seenReservations > 0 {
            parts.append("the records of \(plan.seenReservations.documents) that are in the ledger now")
        }
        for marker in plan.markers {
            let place = plan.namespace.map { " of \($0)" } ?? ""
            parts.append("the field \"\(marker)\" in the documents\(place): the job cannot be run again")
        }
        return parts
    }

    private static func kept(_ plan: CleanupPlan) -> [String] {
        guard plan.pendingReservations > 0 else { return [] }
        return [
            "kept: the records of \(plan.pendingReservations.documents) made unsyncable that are not in the ledger yet"
        ]
    }
}
