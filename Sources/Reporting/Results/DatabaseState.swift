import JobReports

extension DatabasesReport {
    /// The outcome of a job in one of many databases, in a word.
    enum State: String, CaseIterable {
        case done
        case findings = "done_with_findings"
        case nothingToDo = "nothing_to_do"
        case wouldChange = "would_change"
        case refused
        case stopped
        case failed
        case undone
        case noCollection = "no_collection"
        case doneBefore = "done_before"
        case notReached = "not_reached"

        /// Whether this run worked on the database without an error, so that it may have counted the documents that
        /// need the job.
        var isSurveyed: Bool { ![.failed, .doneBefore, .notReached].contains(self) }

        /// The outcome in words, for an operator.
        var words: String { rawValue.replacing("_", with: " ") }
    }
}

extension DatabasesReport.Entry {
    var state: DatabasesReport.State {
        switch outcome {
        case .failed: .failed
        case .noCollection: .noCollection
        case .undone: .undone
        case .notReached(let wasDone): wasDone ? .doneBefore : .notReached
        case .reported(let report): Self.state(of: report)
        }
    }

    private static func state(of report: BackfillReport) -> DatabasesReport.State {
        switch report.outcome {
        case .stopped: .stopped
        case .dryRun where report.refusal != nil: .refused
        case .dryRun: report.work.modified + (report.work.refreshed ?? 0) > 0 ? .wouldChange : .nothingToDo
        case .done, .nothingToDo: report.hasFindings ? .findings : report.outcome == .done ? .done : .nothingToDo
        }
    }

    /// Whether the job's exit code in this database is not 0; `false` if the job has no exit code.
    var fails: Bool { exitCode.map { $0 != 0 } ?? false }

    /// The level of the outcome, on which its colour and the level of the whole report depend.
    var level: Report.Level {
        switch outcome {
        case .failed: .error
        case .notReached(let wasDone): wasDone ? .notice : .warning
        case .noCollection, .undone: .notice
        case .reported(let report): BackfillResult(report, showsValues: false).level
        }
    }
}
