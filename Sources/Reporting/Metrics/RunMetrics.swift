package import BSON
package import Checking
import Concurrency
package import JobReports
package import JobState
import Running
import Steps

/// The metrics of the runs of one check or one job, for a Prometheus textfile.
package struct RunMetrics: Sendable {
    /// The state of the run when the metrics are written.
    package enum Phase: Sendable, Hashable {
        case running
        /// The run ended with the given exit code.
        case ended(Int32)
    }

    private let labels: [Metric.Label]
    /// The time at which a run last ended with exit code 0 or 1, in seconds since 1970; `nil` if there was none.
    private var lastSuccess: Double?
    /// The metrics of the result; empty until the command has a result.
    private var found: [Metric] = []
    /// The metrics of the previous run's result, as text; empty if the previous file has none.
    ///
    /// The new file of a check contains this text until the check has a result of its own.
    private let foundBefore: String
    /// The reasons why the run waits now; empty if it does not wait.
    package var waitReasons: [WaitReason] = []
    private let throttles: Bool
    private var documents = 0
    private var changed = 0

    private static let successName = "last_success_timestamp_seconds"

    /// Creates the metrics of a run that begins.
    /// - Parameters:
    ///   - name: the name of the schema or of the job.
    ///   - throttles: whether the run has a throttle that can make it wait.
    ///   - earlier: the text of the previous file; `nil` if there was none.
    package init(command: String, name: String, throttles: Bool, earlier: String?) {
        labels = [("command", command), ("name", name)]
        self.throttles = throttles
        lastSuccess = earlier.flatMap { [labels] in Metric.value(of: Self.successName, labels, in: $0) }
        let beginning = lastSuccess == nil ? nil : earlier?.firstRange(of: "# HELP shipshape_documents ")?.lowerBound
        foundBefore = beginning.flatMap { earlier?[$0...] }.map { String($0) } ?? ""
    }

    /// Adds the numbers of documents that a chunk processed and changed.
    package mutating func add(documents: Int, changed: Int) {
        self.documents += documents
        self.changed += changed
    }

    /// Returns the new content of the metrics file.
    package func text(_ phase: Phase, at time: ServerTime, after seconds: Double) -> String {
        let now = Double(time.milliseconds) / 1_000
        var code: Int32?
        if case .ended(let ended) = phase { code = ended }
        // Exit code 1 means findings: the run itself succeeded.
        let success = code.map { $0 <= 1 } == true ? now : lastSuccess
        let run =
            [
                success.map {
                    Metric(Self.successName, "When the command last ended with exit code 0 or 1.", labels, $0)
                },
                Metric("run_timestamp_seconds", "When the file was written.", labels, now),
                Metric("running", "Whether a run was under way then.", labels, code == nil ? 1 : 0),
                code.map { Metric("exit_code", "How the last run ended.", labels, Int($0)) },
                Metric("run_duration_seconds", "How long the run took until then.", labels, seconds),
            ].compactMap(\.self)
        let isHeld = Set(waitReasons.map(\.reason))
        let throttle = Metric(
            "throttled", "Whether the run waits, by the reason.",
            counts: ThrottleReason.known.map { (labels + [("reason", $0.rawValue)], isHeld.contains($0) ? 1 : 0) })
        guard throttles else {
            // The metrics of the previous result stay until a check has a new result. Otherwise, a check that ends with
            // an error would also end the alerts that the previous result caused.
            return Metric.text(run + found) + (found.isEmpty ? foundBefore : "")
        }
        return Metric.text(run + [throttle] + (found.isEmpty ? progress(documents, changed, seconds) : found))
    }

    private func progress(_ documents: Int, _ changed: Int, _ seconds: Double) -> [Metric] {
        [
            Metric("documents", "Documents that the run went over.", labels, documents),
            Metric("changed_documents", "Documents that the run changed.", labels, changed),
            rate(documents, seconds),
        ]
    }

    private func rate(_ documents: Int, _ seconds: Double) -> Metric {
        Metric("documents_per_second", "How fast the run went.", labels, seconds > 0 ? Double(documents) / seconds : 0)
    }
}

extension RunMetrics {
    /// Sets the metrics of the result from the reports of checks that ran one after the other on one deployment.
    ///
    /// The counts are sums over all checks. The size of the ledger of unsynced documents, and the room under the limit
    /// of unsynced documents, are those of the last check.
    package mutating func take(_ reports: [CheckReport]) {
        guard let last = reports.last else { return }
        func sum(_ count: (CheckReport) -> Int) -> Int { reports.reduce(0) { $0 + count($1) } }
        let (verdict, seconds) = (last.verdict, reports.reduce(0) { $0 + $1.duration.seconds })
        let groups = reports.flatMap(\.collections).flatMap { collection in
            collection.groups.map { group in
                (
                    labels: labels + [
                        ("collection", "\(collection.namespace)"), ("rule", group.violation.rule.rawValue),
                        ("level", "\(group.violation.level)"),
                    ], count: group.count
                )
            }
        }
        let findings = Dictionary(grouping: groups) { $0.labels.map(\.value) }.values
            .map { same in (labels: same[0].labels, value: same.reduce(0) { $0 + $1.count }) }
            .sorted { $0.labels.map(\.value).lexicographicallyPrecedes($1.labels.map(\.value)) }
        found = [
            Metric("documents", "Documents that the run went over.", labels, sum(\.readCount)),
            rate(sum(\.readCount), seconds),
            Metric(
                "findings", "Findings in documents, by collection, rule and level; a document can have several.",
                counts: findings),
            Metric(
                "failing_documents", "Documents that would stop syncing (certain), or might (possible).",
                counts: [
                    (labels + [("level", "certain")], sum(\.verdict.stopping)),
                    (
                        labels + [("level", "possible")],
                        sum { $0.total.changes?.newlyPossible ?? $0.total.newPossible }
                    ),
                ]),
        ]
        found += entries(of: verdict.ledger)
        guard last.isOfDeviceSync else { return }
        found += [
            headroom(verdict.headroom),
            Metric("unsynced_limit", "The count at which sync stops.", labels, verdict.limit),
        ]
    }

    /// Adds the number of anomalies that a check with a history found.
    package mutating func add(_ anomalies: [CheckAnomaly]) {
        found.append(
            Metric(
                "anomalies", "Findings with more than three times their usual number of documents.", labels,
                anomalies.count))
    }

    /// Sets the result's metrics from the report of a backfill.
    package mutating func take(_ report: BackfillReport) { take([report], isWhole: true, seconds: report.work.seconds) }

    /// Sets the result's metrics from the report of a backfill of many databases, as sums over the databases.
    package mutating func take(_ report: DatabasesReport) {
        let states = report.entries.map(\.state)
        take(report.reports, isWhole: states.allSatisfy(\.isSurveyed), seconds: report.seconds)
        found.append(
            Metric(
                "databases", "Databases of the run, by what became of the job there.",
                counts: DatabasesReport.State.allCases.map { state in
                    (labels + [("state", state.rawValue)], states.count { $0 == state })
                }))
    }

    /// Sets the result's metrics from the report of a migration, as sums over the jobs that were run.
    package mutating func take(_ report: MigrationReport) {
        let reports = report.jobs.map(\.report)
        take(reports, isWhole: report.remaining.isEmpty, seconds: reports.reduce(0) { $0 + $1.work.seconds })
        found.append(Metric("pending_jobs", "Jobs that are still to be run.", labels, report.remaining.count))
    }

    /// Sets the metrics of the result to sums over the reports of jobs.
    ///
    /// Only the room under the limit of unsynced documents is that of the last job.
    /// - Parameter isWhole: whether the reports cover all documents that may still need a job; if not, the metric of
    ///   remaining documents is left out.
    private mutating func take(_ reports: [BackfillReport], isWhole: Bool, seconds: Double) {
        waitReasons = []
        // A run that was stopped may have no final count; the number of remaining documents is then unknown.
        let remaining = reports.compactMap { $0.after.map(\.needing).max() }
        let isKnown = isWhole && remaining.count == reports.count
        let waits = reports.flatMap(\.work.waits).grouped(by: \.waitReason.reason.rawValue)
        found =
            progress(documents, reports.reduce(0) { $0 + $1.work.modified }, seconds) + [
                Metric(
                    "remaining_documents", "Documents that still need the step that most documents need.",
                    counts: isKnown ? [(labels, remaining.reduce(0, +))] : []),
                Metric(
                    "skipped_documents", "Documents that cannot be written.", labels,
                    reports.flatMap(\.failures).reduce(0) { $0 + $1.count }),
                Metric(
                    "throttled_seconds", "How long the run waited, by the reason.",
                    waits.map { reason, waits in
                        (labels + [("reason", reason)], waits.reduce(0) { $0 + $1.seconds })
                    }),
            ]
        guard let headroom = reports.compactMap(\.headroom).last else { return }
        found += entries(of: headroom.ledger) + [self.headroom(headroom.documents)]
    }

    private func entries(of ledger: LedgerCount?) -> [Metric] {
        [ledger].compactMap { $0.map { Metric("ledger_entries", "Entries of the ledger.", labels, $0.entries) } }
    }

    private func headroom(_ documents: Int) -> Metric {
        Metric("headroom_documents", "Documents that may become unsynced before the limit.", labels, documents)
    }
}
