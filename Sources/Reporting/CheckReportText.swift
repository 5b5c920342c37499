import BSON
public import Checking
import Concurrency
import ServerSchema

/// A check's report as text: first the verdict, then the findings of each collection with their filters.
public struct CheckReportText: Sendable {
    let report: CheckReport
    let paint: Paint
    let ids: IDDisplay
    let width: Int?
    private let showsFilters: Bool
    private let difference: CheckDifference?

    /// - Parameters:
    ///   - isColored: Whether to use a terminal's colours.
    ///   - width: The width of the terminal in columns; `nil` for a file, whose lines are not wrapped.
    ///   - ids: How `_id`s are shown.
    ///   - showsFilters: Whether to show the filter of each group, for mongosh.
    public init(
        _ report: CheckReport, isColored: Bool = false, width: Int? = nil, ids: IDDisplay = .shown,
        showsFilters: Bool = true
    ) {
        self.init(
            report, isColored: isColored, width: width, ids: ids, showsFilters: showsFilters, difference: nil)
    }

    /// Wraps a report and its differences from an earlier check.
    /// - Parameter difference: the findings that changed since an earlier check; `nil` if there is none to compare
    ///   with.
    init(
        _ report: CheckReport, isColored: Bool, width: Int?, ids: IDDisplay, showsFilters: Bool,
        difference: CheckDifference?
    ) {
        self.report = report
        self.difference = difference
        self.width = width
        self.showsFilters = showsFilters
        self.ids = ids
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    public var text: String {
        var blocks = [verdict]
        if let difference { blocks.append(difference.text(width: width)) }
        if let changes = CheckReportChanges(report)?.text(width: width) { blocks.append(changes) }
        blocks += report.collections.map(collection)
        if let removed { blocks.append(removed) }
        if !limits.isEmpty { blocks.append(limits.flatMap { $0.wrapped(to: width) }.asLines) }
        if !exceptions.isEmpty { blocks.append(exceptions.asLines) }
        if !report.notes.isEmpty { blocks.append(report.notes.flatMap { "Note: \($0)".wrapped(to: width) }.asLines) }
        blocks.append(footer)
        return blocks.asReport(verdict: headline)
    }

    /// The findings of each collection, then the notes and the number of documents read, without the verdict.
    var findings: String {
        let notes = report.notes.flatMap { "Note: \($0)".wrapped(to: width) }
        return (report.collections.map(collection) + (notes.isEmpty ? [] : [notes.asLines]) + [footer]).joined(
            separator: "\n\n")
    }

    private var footer: String {
        "\(report.readCount.documents) of \(report.source.printable) read in \(report.duration.seconds.inTenths) s."
            .wrapped(to: width).joined(separator: "\n")
    }

    private func collection(_ collection: CheckReport.Collection) -> String {
        var parts = [heading(collection)]
        if !collection.groups.isEmpty {
            parts.append(
                CheckReportGroups(collection: collection, ids: ids, width: width, showsFilters: showsFilters).text)
        }
        parts += remarks(collection).flatMap { $0.printable.wrapped(to: width) }
        return parts.joined(separator: "\n")
    }

    /// Returns the remarks that follow the findings of a collection, one per element; empty if there are none.
    func remarks(_ collection: CheckReport.Collection) -> [String] {
        var lines: [String] = []
        if collection.overflowCount > 0 {
            let more =
                collection.overflowCount == 1
                ? "1 more finding is" : "\(collection.overflowCount.grouped) more findings are"
            lines.append("\(more) counted but not listed: too many kinds.")
        }
        lines += readingLines(collection.reading)
        return lines
            + collection.unevaluatedKeywords.map {
                "Not judged: \($0.keyword) of \($0.path) (\($0.file):\($0.line))"
            }
    }

    private func heading(_ collection: CheckReport.Collection) -> String {
        let circumstances = circumstances(collection).map { " (\($0.printable))" }.joined()
        let name = "\(collection.namespace)".printable
        let line = "\(name)\(circumstances): \(summary(collection))".wrapped(to: width.map { max(20, $0 - 2) }).joined(
            separator: "\n  ")
        return line.hasPrefix(name) ? paint.bold(name) + line.dropFirst(name.count) : line
    }

    /// Returns a clause for each fact that makes a collection special, such as that it does not count in the verdict.
    func circumstances(_ collection: CheckReport.Collection) -> [String] {
        [
            collection.reading.namespace.map { "read from \($0)" },
            collection.isInActive == false ? "not in \(report.active ?? "the active schema")" : nil,
            collection.partner.map { "keeps its schema, because its partner \($0) serves the change" },
            collection.isCounted ? nil : "\(collection.scope.reason): not in the verdict",
        ].compactMap(\.self)
    }

    /// Returns how many documents of a collection were read, and how many of them fail.
    func summary(_ collection: CheckReport.Collection) -> String {
        let counts = collection.counts
        var read = "\(counts.read.documents) read"
        if let exact = collection.reading.exactCount {
            read += " of \(exact.grouped)"
        } else if let estimated = collection.estimatedCount {
            read += " of about \(estimated.grouped)"
        }
        let failing = [
            failing(
                counts.certain, counts.newCertain, of: collection.judgedCount,
                report.dialect.failing(counts.certain)),
            failing(counts.possible, counts.newPossible, of: collection.judgedCount, "might not sync"),
        ].compactMap { $0 }
        if counts.read == 0 { return read }
        let excepted = counts.excepted > 0 ? ", \(counts.excepted.grouped) excepted" : ""
        return "\(read), \(failing.isEmpty ? "all fit" : failing.joined(separator: ", "))\(excepted)"
    }

    private func failing(_ count: Int, _ new: Int, of judged: Int, _ consequence: String) -> String? {
        guard count > 0 else { return nil }
        let share = "\(count.grouped) (\(Share(count, of: judged).text)) \(consequence)"
        if !report.dialect.isOfSync || report.verdict.ledger == nil { return share }
        return "\(share) (\(new.grouped) not in the ledger)"
    }
}

extension SyncScope {
    /// The reason why documents of a collection with this role in sync do not count in the verdict.
    fileprivate var reason: String {
        switch self {
        case .synced: "synced"
        case .asymmetric: "clients only write to it"
        case .outside: "outside the synced data source"
        }
    }
}

extension CheckReportText {
    /// The headline, then a line for each part of the verdict, each followed by its reasons.
    var verdict: String {
        let parts = report.parts(ids: ids)
        let lines = parts.flatMap { part in
            let severity = paint(part.severity, part.severity.word.padded(to: 8))
            let lines = line(part).wrapped(to: width, indent: 23)
            let first = "  \(part.name.padded(to: 9))  \(severity)  \((lines.first ?? "").dropFirst(23))"
            return [first] + lines.dropFirst() + part.reasons.flatMap { $0.printable.wrapped(to: width, indent: 4) }
        }
        return headline + "\n" + lines.asLines
    }

    private func line(_ part: VerdictPart) -> String {
        let text = (part.sum ?? part.sentence).printable
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    var headline: String {
        let (text, level) = report.headline(ids: ids)
        return text.printable.wrapped(to: width).map { paint(level, $0) }.joined(separator: "\n")
    }

    private func paint(_ severity: DeployVerdict.Severity, _ text: String) -> String {
        switch severity {
        case .safe: paint.green(text)
        case .unknown: paint.yellow(text)
        case .unsafe: paint.red(text)
        }
    }

    /// A line for each collection that loses its schema; `nil` if there are none.
    var removed: String? {
        let lines = report.removed.compactMap { removed in
            fate(of: removed).map { "\(paint.bold("\(removed.namespace)")): \($0)" }
        }
        return lines.isEmpty ? nil : lines.asLines
    }

    /// Returns the consequence for a collection that only the active schema covers; `nil` without an active schema.
    func fate(of removed: RemovedCollection) -> String? {
        report.active.map { active in
            switch removed.documentCount {
            case 0?: "only in \(active); it holds no documents"
            case _ where !report.dialect.isOfSync:
                "only in \(active); not checked, because "
                    + (report.dialect == .prisma
                        ? "the client no longer reads it" : "without a validator every document fits")
            case let count?: "only in \(active); none of its about \(count.documents) syncs any more"
            case nil: "only in \(active); none of its documents syncs any more"
            }
        }
    }

    /// A line for each limit that the operator states, with the number of documents that fail.
    var limits: [String] {
        report.limits.map { use in
            let place =
                use.namespace.map { " of \($0)" } ?? (report.limits.count > 1 ? " of the other collections" : "")
            let rule = use.rule.map { " by \($0)" } ?? ""
            let count = "\(use.failing.grouped) of \(use.judged.grouped) (\(Share(use.failing, of: use.judged).text))"
            return "\(use.isExceeded ? "Too many" : "Accepted"): \(count) documents\(place) fail\(rule), at most "
                + "\(use.limit) may."
        }.map(\.printable)
    }

    /// A line for each of the operator's exceptions that has expired or matched nothing, and one for all that matched.
    var exceptions: [String] {
        guard let use = report.exceptions else { return [] }
        var lines = use.expired.map { exception in
            paint.red("Expired on \(exception.expires ?? ""):") + " the exception for \(describe(exception))"
        }
        if !use.matched.isEmpty {
            lines.append(
                "\(use.matched.count.counted("exception")) of \(use.file) matched; the documents still count in the "
                    + "projection, because the server does not know the exceptions.")
        }
        lines += use.unmatched.map { "Matched nothing: the exception for \(describe($0))" }
        return lines
    }

    private func describe(_ exception: FindingException) -> String {
        "\(exception.rule) of \(exception.path) in \(exception.namespace) (\(exception.location), owner "
            + "\(exception.owner.printable))"
    }
}
