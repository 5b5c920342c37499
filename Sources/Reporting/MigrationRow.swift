import BSON
import JobReports
import JobState

/// A job in the status of a migration: whether it was applied, when and by whom.
struct MigrationRow {
    var file: String
    var job: String
    /// The state of the job, which begins with `pending` or `applied`.
    ///
    /// After `pending`, the text shows the state of an unfinished run, or says that the job waits for the deploy of its
    /// next schema, or that the job is due again. After `applied`, the text says whether there are findings, and shows
    /// the state of an unfinished undo.
    var state: String
    var at: ServerTime?
    var by: String?
    /// The result of comparing the job's file with the file that was applied: `ok`, `changed` or `missing file`; `-`
    /// for a job that was not applied.
    var digest: String
    /// Whether the job was applied but is due to run again, because its next schema has been deployed since then.
    var isDueAgain = false

    /// The state as the table shows it.
    var words: String { isDueAgain ? "pending, again after the deploy" : state }

    /// Returns a row per job of the folder, in the folder's order, then a row per applied job whose file is missing.
    static func all(_ plan: MigrationPlan, begun: [JobStatus]) -> [MigrationRow] {
        plan.items.map { item in
            guard let applied = item.applied else {
                let status = begun.first { $0.job == item.entry.name }
                let state = item.waitsForDeploy ? "waits for the deploy" : status?.state.rawValue
                return MigrationRow(
                    file: item.entry.file, job: item.entry.name, state: state.map { "pending, \($0)" } ?? "pending",
                    digest: "-")
            }
            var row = MigrationRow(applied, begun, file: item.entry.file, digest: item.isChanged ? "changed" : "ok")
            if item.isDueAgain { (row.state, row.isDueAgain) = ("pending, once more after the deploy", true) }
            return row
        } + plan.missing.map { MigrationRow($0, begun, file: $0.file, digest: "missing file") }
    }
}

extension MigrationRow {
    private init(_ applied: AppliedJob, _ begun: [JobStatus], file: String, digest: String) {
        let undo = begun.first { $0.job == applied.job }.flatMap {
            [.undoing, .undoStopped, .undone].contains($0.state) ? $0.state : nil
        }
        let state = applied.hasFindings ? "applied, with findings" : "applied"
        self.init(
            file: file, job: applied.job, state: undo.map { "\(state), then \($0.rawValue)" } ?? state,
            at: applied.mark.at, by: applied.mark.by.printable, digest: digest)
    }
}
