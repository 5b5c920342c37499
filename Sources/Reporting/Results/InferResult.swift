import BSON
import Checking
import Concurrency
package import Inferring
import ServerSchema

/// The result of `infer`, in every output format.
package struct InferResult: Reportable {
    private let found: InferReport

    /// Wraps a report.
    package init(_ report: InferReport) { found = report }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String {
        InferReportText(layout.shown(found, notes: \.notes), isColored: layout.isColored, width: layout.width).text
    }

    /// The result as JSON.
    package var json: JSONReport { InferReportJSON(found).json }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        let (headline, level) = found.headline
        var report = Report(command: "infer", title: found.source, headline: headline, level: level)
        report.facts = [
            Report.Fact(
                name: "documents read", value: found.collections.reduce(0) { $0 + $1.outcome.checked }.grouped),
            Report.Fact(
                name: "do not fit", value: found.collections.reduce(0) { $0 + $1.outcome.failing }.grouped),
            Report.Fact(name: "took", value: "\(found.duration.seconds.inTenths) s"),
        ]
        report.sections = found.collections.map(section)
        report.tables = found.collections.map { InferReportText(found).table($0.inference) }
        report.notes = found.notes
        return report
    }

    private func section(_ collection: InferReport.Collection) -> Report.Section {
        let namespace = collection.inference.namespace
        let checked = CheckReport.Collection(namespace: namespace, counts: DocumentCounts())
        let words = InferReportText(found)
        return Report.Section(
            name: "\(namespace)", summary: words.summary(collection),
            columns: ViolationGroupWords.columns(hasNew: false),
            findings: collection.outcome.groups.filter { $0.violation.level >= .possible }.map {
                var finding = ViolationGroupWords($0, of: checked, ids: .hidden).finding(
                    isFailure: !collection.outcome.isWithinCover)
                // The report shows no values of documents, and a filter may contain one.
                finding.commands = []
                return finding
            }, remarks: words.remarks(collection))
    }
}
