import BSON

/// A finding that now applies to more than three times as many documents as usual.
package struct CheckAnomaly: Hashable, Sendable {
    /// The finding, with the number of documents that have it now.
    let finding: CheckSummary.Finding
    /// The usual number of documents: the median over the earlier checks.
    let usual: Int
    /// The number of earlier checks from which the median is computed.
    let checks: Int

    /// The maximum number of earlier checks from which the median is computed.
    static let window = 7
    /// The minimum number of earlier checks for an anomaly; fewer checks do not show what is usual.
    static let minimumChecks = 3
    /// The multiple of the usual number of documents above which a finding is an anomaly.
    static let factor = 3
    /// The minimum number of documents for an anomaly; smaller numbers triple by chance.
    static let minimumDocuments = 10

    /// The code of every anomaly in reports; `shipshape explain anomaly` explains it.
    static let code = "anomaly"

    var message: String {
        "\(finding.documents.documents) by \(finding.rule) at \(finding.path), and \(usual.grouped) is usual "
            + "(the median of \(checks.counted("check")))"
    }

    var json: ReportValue { finding.json + ["usual": usual, "checks": checks] }
}

extension CheckHistory {
    /// The anomalies of the newest check: the findings that apply to more than three times as many documents as usual.
    package var anomalies: [CheckAnomaly] { summaries.isEmpty ? [] : anomalies(at: summaries.count - 1) }

    /// Returns the anomalies of a check.
    ///
    /// Only earlier checks of the same source, schema and collection count. Of two middle numbers, the larger one is
    /// usual. Findings that the operator accepts count like others. Otherwise, they would look like anomalies once the
    /// operator's exception expires.
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
    /// All findings of the check, including the findings that the operator accepts.
    fileprivate var allFindings: [Finding] { findings + accepted }

    fileprivate func documents(with finding: Finding) -> Int {
        allFindings.first { $0.key == finding.key }?.documents ?? 0
    }
}

extension CheckSummary.Finding {
    /// The cells of a table's columns `collection`, `rule` and `path`.
    var cells: [Report.Cell] { [Report.Cell(collection), Report.Cell(rule), .code(path)] }
}

extension Report.Section {
    /// Creates a report section that lists the anomalies; `nil` if there are no anomalies.
    /// - Parameter isFailure: whether an anomaly makes the command exit with code 1.
    init?(_ anomalies: [CheckAnomaly], isFailure: Bool) {
        guard !anomalies.isEmpty else { return nil }
        self.init(
            name: "Anomalies", summary: "more than \(CheckAnomaly.factor) times the usual number of documents",
            columns: [.number("usual"), .number("now"), "collection", "rule", "path"],
            findings: anomalies.map { anomaly in
                let finding = anomaly.finding
                return Report.Finding(
                    level: isFailure ? .error : .warning, isFailure: isFailure, code: CheckAnomaly.code,
                    subject: "\(finding.collection) \(finding.path) \(finding.rule)", message: anomaly.message,
                    cells: [.count(anomaly.usual), .count(finding.documents)] + finding.cells)
            })
    }
}
