import BSON

/// A finding that has more than three times its usual number of documents.
package struct CheckAnomaly: Hashable, Sendable {
    /// The finding, with the number of documents that have it now.
    let finding: CheckSummary.Finding
    /// The usual number of documents: the median over the earlier checks.
    let usual: Int
    /// The number of earlier checks from which the median is computed.
    let checks: Int

    /// The maximum number of earlier checks from which the median is computed.
    static let window = 7
    /// The number of earlier checks below which nothing is an anomaly, because fewer checks do not show what is usual.
    static let minimumChecks = 3
    /// The factor by which a number of documents must exceed the usual one.
    static let factor = 3
    /// The number of documents below which a finding is no anomaly, because small numbers triple by chance.
    static let minimumDocuments = 10

    /// The name of the kind of finding, which `shipshape explain` explains.
    static let code = "anomaly"

    /// The anomaly, in words.
    var message: String {
        "\(finding.documents.documents) by \(finding.rule) at \(finding.path), and \(usual.grouped) is usual "
            + "(the median of \(checks.counted("check")))"
    }

    var json: ReportValue {
        [
            "collection": finding.collection, "rule": finding.rule, "path": finding.path,
            "documents": finding.documents, "usual": usual, "checks": checks,
        ]
    }
}

extension CheckHistory {
    /// The anomalies of the newest check: the findings with more than three times their usual number of documents.
    package var anomalies: [CheckAnomaly] { summaries.isEmpty ? [] : anomalies(at: summaries.count - 1) }

    /// Returns the anomalies of a check: the findings with more than three times their usual number of documents.
    ///
    /// The usual number is the median over the last three to seven checks of the same source, schema and collection. If
    /// there are two middle numbers, the larger one counts. With fewer than three such checks, or fewer than ten
    /// documents now, a finding is no anomaly. Findings that the operator accepts count like others. Otherwise, an
    /// exception that expires would look like an anomaly.
    func anomalies(at index: Int) -> [CheckAnomaly] {
        let now = summaries[index]
        let earlier = summaries[..<index].filter { $0.source == now.source && $0.schema == now.schema }
        return now.allFindings.compactMap { finding in
            let checks = earlier.filter { $0.collections.contains(finding.collection) }.suffix(CheckAnomaly.window)
            guard finding.documents >= CheckAnomaly.minimumDocuments, checks.count >= CheckAnomaly.minimumChecks
            else { return nil }
            let counts = checks.map { $0.documents(with: finding) }.sorted()
            let usual = counts[counts.count / 2]
            guard finding.documents > CheckAnomaly.factor * usual else { return nil }
            return CheckAnomaly(finding: finding, usual: usual, checks: checks.count)
        }
    }
}

extension CheckSummary {
    /// All findings of the check: those that no exception covers, and those that the operator accepts.
    fileprivate var allFindings: [Finding] { findings + accepted }

    /// Returns the number of documents that have the finding in this check.
    fileprivate func documents(with finding: Finding) -> Int {
        allFindings.first { $0.isSame(as: finding) }?.documents ?? 0
    }
}

extension CheckSummary.Finding {
    /// Whether both are findings of one rule at one path of one collection.
    fileprivate func isSame(as other: Self) -> Bool {
        collection == other.collection && path == other.path && rule == other.rule
    }
}

extension Report.Section {
    /// Creates the section of anomalies; `nil` if there is none.
    /// - Parameter isFailure: whether an anomaly makes the command exit with code 1.
    init?(_ anomalies: [CheckAnomaly], isFailure: Bool) {
        guard !anomalies.isEmpty else { return nil }
        self.init(
            name: "Anomalies", summary: "more than \(CheckAnomaly.factor) times the usual number of documents",
            columns: [
                Report.Column(title: "usual", isNumber: true), Report.Column(title: "now", isNumber: true),
                Report.Column(title: "collection"), Report.Column(title: "rule"), Report.Column(title: "path"),
            ],
            findings: anomalies.map { anomaly in
                let finding = anomaly.finding
                return Report.Finding(
                    level: isFailure ? .error : .warning, isFailure: isFailure, code: CheckAnomaly.code,
                    subject: "\(finding.collection) \(finding.path) \(finding.rule)", message: anomaly.message,
                    cells: [
                        Report.Cell(anomaly.usual.grouped), Report.Cell(finding.documents.grouped),
                        Report.Cell(finding.collection), Report.Cell(finding.rule),
                        Report.Cell(finding.path, isCode: true),
                    ])
            })
    }
}
