import BSON
package import Checking
import Concurrency
import SchemaChange
import ServerSchema

/// The result of a check, in every output format.
package struct CheckResult: Reportable {
    private let found: CheckReport
    private let policy: FailurePolicy
    private let history: CheckHistory
    private let ids: IDDisplay
    private let showsFilters: Bool
    private let next: String?
    private let places: SchemaPlaces?

    /// Wraps the report of a check.
    /// - Parameters:
    ///   - policy: which findings make the command exit with code 1.
    ///   - history: the results of earlier checks and, last, of this one; empty if no history is kept.
    ///   - showsFilters: whether a terminal shows the filter of each violation group, as a file always does.
    ///   - next: the command that plans the repair of the documents, for the end of the text; `nil` for none.
    ///   - places: the positions in the schema's files; `nil` if the schema has no files.
    package init(
        _ report: CheckReport, policy: FailurePolicy, history: CheckHistory = CheckHistory([]), ids: IDDisplay = .shown,
        showsFilters: Bool = false, next: String? = nil, places: SchemaPlaces? = nil
    ) {
        (found, self.policy, self.history, self.ids) = (report, policy, history, ids)
        (self.showsFilters, self.next, self.places) = (showsFilters, next, places)
    }

    package var hasFailed: Bool { policy.fails(found) || policy.includesAnomalies && !history.anomalies.isEmpty }

    package var json: JSONReport { CheckReportJSON(found, ids: ids, history: history).json }

    package var report: Report {
        let (sentence, level) = found.headline(ids: ids)
        let headline = found.rules.isLive ? history.compared(sentence) : sentence
        var report = Report(command: "check", title: title, headline: headline, level: level)
        report.file = places?.file
        report.parts = found.parts(ids: ids)
        for index in report.parts.indices { report.parts[index].isFailure = isFailure(report.parts[index]) }
        report.figures.facts = facts
        report.figures.footer =
            "\(found.readCount.documents) of \(found.source) read in \(found.duration.seconds.inTenths) s"
            + (found.commonMoment.map { ", consistent as of \($0)" } ?? "") + "."
        report.figures.gauges = [gauge].compactMap(\.self)
        report.figures.series = [Report.Series(history)].compactMap(\.self)
        report.figures.charts = [byCollection, byRule]
        report.tables = [history.difference?.table, found.changesTable].compactMap(\.self)
        let hasLevel = found.collections.lazy.flatMap(\.groups).haveLevels
        report.sections =
            [Report.Section(history.anomalies, isFailure: policy.includesAnomalies)].compactMap(\.self)
            + worstFirst.map { section($0, hasLevel: hasLevel) } + (found.active?.removed ?? []).compactMap(removed)
        report.notes = found.notes
        report.warnings = found.collections.compactMap {
            $0.reading.comparison?.warning(in: $0.reading.namespace ?? $0.namespace, ids: ids)
        }
        report.warnings += found.limitNotes + found.exceptionNotes
        // The title of the table of changes is a sentence that compares this check with an earlier one. If no finding
        // changed, the report has no such table, so the sentence becomes a warning.
        if let difference = history.difference, difference.changes.isEmpty {
            report.warnings.append(difference.sentence)
        }
        report.next = next.map { ["Next: \($0)"] } ?? []
        // Documents that fail are the first thing to repair; a comparison of schemas can wait.
        let canCompare = found.isChangeJudged && found.active == nil && found.documentsSeverity == .safe
        if canCompare { report.next.append(found.changePart(ids).sentence) }
        (report.style.isCompact, report.style.showsFilters) = (true, showsFilters)
        return report
    }

    private var title: String {
        let (judged, stated) = (found.active?.change, found.active?.statedChange)
        let names = [judged?.old ?? stated?["old"]?.text, judged?.new ?? stated?["new"]?.text]
        let change = names.compactMap(\.self).joined(separator: " → ")
        return (change.isEmpty ? "" : "\(change) on ") + found.source
    }

    private func isFailure(_ part: Report.Part) -> Bool {
        switch part.name {
        case "limit": found.verdict.band >= .syncWillStop
        case "change": policy.failsByChange(found)
        default: policy.failsByDocuments(found)
        }
    }

    private var facts: [Report.Fact] {
        let total = found.total
        var counts = [("documents read", found.readCount), ("collections", found.collections.count)]
        if let changes = total.changes {
            counts += [("newly failing", changes.newlyFailing), ("already failing", changes.alreadyFailing)]
        } else {
            counts.append((found.words.failing(2), total.certain))
        }
        if let engine = total.engine {
            counts += [("halt the engine", engine.halting), ("never arrive", engine.dropped)]
            counts.append(("values lost", engine.values))
        }
        if found.isOfDeviceSync {
            counts.append(("might not sync", total.possible))
            if found.verdict.ledger != nil { counts.append(("headroom", found.verdict.headroom)) }
        }
        return counts.map { Report.Fact($0, $1) } + [.seconds("took", found.duration.seconds)]
    }

    private var gauge: Report.Gauge? {
        guard found.isOfDeviceSync, let sum = found.limitPart.figures else { return nil }
        let verdict = found.verdict
        return Report.Gauge(
            title: "Unsynced documents after the deploy, and the limit",
            summary: "\(sum.prefix(1).uppercased())\(sum.dropFirst()).", limit: verdict.limit,
            amounts: [
                Report.Amount(name: "in the ledger now", value: verdict.recorded, level: .notice),
                Report.Amount(name: "added for certain", value: verdict.newCertain, level: .error),
                Report.Amount(name: "added if all possible findings hold", value: verdict.newPossible, level: .warning),
            ])
    }

    private var byCollection: Report.Chart {
        let collections = found.collections.filter { $0.counts.certain + $0.counts.possible > 0 }.sorted {
            ($0.counts.certain, $0.counts.possible) > ($1.counts.certain, $1.counts.possible)
        }
        return Report.Chart(
            title: "Documents with findings, by collection", kind: "collection",
            bars: collections.prefix(Self.maximum).map { collection in
                let counts = collection.counts
                let certain =
                    counts.changes.map { changes in
                        [
                            Report.Amount(name: "newly failing", value: changes.newlyFailing, level: .error),
                            Report.Amount(name: "already failing", value: changes.alreadyFailing, level: .notice),
                        ]
                    } ?? [Report.Amount(name: "certain", value: counts.certain, level: .error)]
                let possible = Report.Amount(name: "possible", value: counts.possible, level: .warning)
                return Report.Bar(name: "\(collection.namespace)", amounts: certain + [possible])
            })
    }

    private var byRule: Report.Chart {
        let groups = found.collections.flatMap(\.groups).filter { $0.violation.level >= .warning }
        let rules = Dictionary(grouping: groups, by: \.violation.rule.rawValue).map { rule, groups in
            let amounts = [
                ("certain", Checking.Level.certain), ("possible", .possible), ("warning", .warning),
            ].map { name, level in
                Report.Amount(
                    name: name, value: groups.reduce(0) { $0 + ($1.violation.level == level ? $1.count : 0) },
                    level: level.reported)
            }
            // A rule by which documents halt the engine for all users comes first.
            let rank = groups.contains { $0.outcome == .halts } ? 0 : 1
            return (rule: rule, amounts: amounts, rank: rank, sum: amounts.reduce(0) { $0 + $1.value })
        }.sorted { ($0.rank, $1.sum, $0.rule) < ($1.rank, $0.sum, $1.rule) }
        let isUsed = (0..<3).map { place in rules.contains { $0.amounts[place].value > 0 } }
        return Report.Chart(
            title: "Findings, by rule", kind: "rule",
            bars: rules.prefix(Self.maximum).map { rule in
                Report.Bar(name: rule.rule, amounts: zip(rule.amounts, isUsed).filter(\.1).map(\.0))
            })
    }

    private static var maximum: Int { 15 }

    /// The collections: first those with documents that halt an engine, then those with the most documents that fail
    /// or might fail.
    private var worstFirst: [CheckReport.Collection] {
        found.collections.enumerated().sorted { left, right in
            func key(_ entry: (offset: Int, element: CheckReport.Collection)) -> (Int, Int, Int, Int) {
                let counts = entry.element.counts
                return (-(counts.engine?.halting ?? 0), -counts.certain, -counts.possible, entry.offset)
            }
            return key(left) < key(right)
        }.map(\.element)
    }

    private func section(_ collection: CheckReport.Collection, hasLevel: Bool) -> Report.Section {
        Report.Section(
            name: "\(collection.namespace)", about: found.circumstances(of: collection).joined(separator: "; "),
            summary: found.summary(of: collection), uniform: found.uniform(collection),
            columns: ViolationGroupWords.columns(of: collection, hasLevel: hasLevel),
            findings: collection.groups.map {
                ViolationGroupWords($0, of: collection, ids: ids).finding(
                    isFailure: policy.fails($0) && !policy.accepts($0, of: collection, in: found), hasLevel: hasLevel,
                    place: places?.place(of: $0.violation.path, in: collection.namespace))
            }, remarks: found.remarks(on: collection))
    }

    private func removed(_ collection: RemovedCollection) -> Report.Section? {
        found.fate(of: collection).map { Report.Section(name: "\(collection.namespace)", summary: $0) }
    }
}
