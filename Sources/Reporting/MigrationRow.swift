import BSON
import JobReports
import JobState

/// A job in the status of a migration: whether it was applied, when and by whom.
struct MigrationRow {
    /// The phase of the job: `migrate` or `contract`; `nil` for an applied job whose file is missing.
    var phase: JobFolder.Phase?
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

    /// The number of documents that need the job now; `nil` if they were not counted.
    var left: Int?

    var words: String {
        let day = at.map { " \($0.iso8601.prefix(10))" } ?? ""
        let file = ["ok", "-"].contains(digest) ? "" : digest == "changed" ? ", its text changed" : ", \(digest)"
        let waiting = "pending, waits for the deploy"
        return isDueAgain
            ? "due again"
            : (state == "applied" ? state + day : state == waiting ? "waits for the deploy" : state) + file
    }

    /// Returns a row per job of the folder, in the folder's order, then a row per applied job whose file is missing.
    static func all(_ plan: MigrationPlan, begun: [JobStatus], left: [String: Int]) -> [MigrationRow] {
        plan.items.map { item in
            let entry = item.entry
            var row: MigrationRow
            if let applied = item.applied {
                row = MigrationRow(applied, begun, file: entry.file, digest: item.isChanged ? "changed" : "ok")
                if item.isDueAgain { (row.state, row.isDueAgain) = ("pending, once more after the deploy", true) }
            } else {
                let status = begun.first { $0.job == entry.name }
                let state = item.waitsForDeploy ? "waits for the deploy" : status?.state.rawValue
                row = MigrationRow(
                    file: entry.file, job: entry.name, state: state.map { "pending, \($0)" } ?? "pending", digest: "-")
            }
            (row.phase, row.left) = (entry.phase, left[entry.name])
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
