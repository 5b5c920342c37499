internal import ArgumentParser
internal import BSON
internal import Jobs
internal import Reporting

/// The flag for jobs with steps that a user has to review before they run.
struct ReviewFlags: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "State that the steps with a review were reviewed, as \"reviewed: true\" in the job file does."))
    var reviewed = false

    /// Asks the user to confirm that the steps of the jobs were reviewed.
    ///
    /// The user is not asked if `--reviewed` or the jobs' files already state the review. `--yes` is no answer to this
    /// question, because scripts give it for jobs that a user has not read.
    /// - Throws: ``UsageError`` without a terminal; ``ExitStatus/stopped`` after any other answer than yes.
    func confirm(_ jobs: [Job]) throws {
        let open = jobs.flatMap { job in job.unreviewed.map { (job, $0) } }
        guard !reviewed, let (first, _) = open.first else { return }
        let lines = open.map { _, step in "  \(step.location): \(step.step): \(step.review ?? "")" }
        Console.error((["\(open.count.counted("step")) to review:"] + lines).map(\.printable).joined(separator: "\n"))
        try Console.confirm(
            "Were these steps reviewed?", orElse: "nothing was written",
            offTerminal:
                "the job \"\(first.name)\" needs its steps reviewed: write \"reviewed: true\" into \(first.path), "
                + "or give --reviewed")
    }
}
