import BSON
public import Checking
import Concurrency
import ServerSchema

/// A check's report for a person: the verdict first, then what is wrong where, then the filters to look closer.
public struct CheckReportText: Sendable {
    let report: CheckReport
    let paint: Paint
    let ids: IDDisplay
    private let width: Int?

    /// - Parameters:
    ///   - isColored: Whether to use a terminal's colours.
    ///   - width: The columns of a terminal; `nil` for a file, whose lines are as long as they need be.
    ///   - ids: How `_id`s are shown.
    public init(_ report: CheckReport, isColored: Bool = false, width: Int? = nil, ids: IDDisplay = .shown) {
        self.report = report
        self.width = width
        self.ids = ids
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    public var text: String {
        var blocks = [verdict]
        if let changes = CheckReportChanges(report)?.text { blocks.append(changes) }
        blocks += report.collections.map(collection)
        blocks += [removed, exceptions].compactMap(\.self)
        if !report.notes.isEmpty { blocks.append(report.notes.map { "Note: \($0)" }.asLines) }
        blocks.append(footer)
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private var footer: String {
        "\(report.readCount.documents) of \(report.source.printable) read in \(report.duration.seconds.inTenths) s."
    }

    private func collection(_ collection: CheckReport.Collection) -> String {
        var parts = [heading(collection)]
        if !collection.groups.isEmpty {
            parts.append(CheckReportGroups(collection: collection, ids: ids, width: width).text)
        }
        if collection.overflowCount > 0 {
            let more =
                collection.overflowCount == 1
                ? "1 more finding is" : "\(collection.overflowCount.grouped) more findings are"
            parts.append("\(more) counted but not listed: too many kinds.")
        }
        parts += readingLines(collection.reading)
        parts += collection.unevaluatedKeywords.map {
            "Not judged: \($0.keyword) of \($0.path) (\($0.file):\($0.line))".printable
        }
        return parts.joined(separator: "\n")
    }

    private func heading(_ collection: CheckReport.Collection) -> String {
        let counts = collection.counts
        var read = "\(counts.read.documents) read"
        if let exact = collection.reading.exactCount {
            read += " of \(exact.grouped)"
        } else if let estimated = collection.estimatedCount {
            read += " of about \(estimated.grouped)"
        }
        let failing = [
            failing(counts.certain, counts.newCertain, counts.certain == 1 ? "does not \(verb)" : "do not \(verb)"),
            failing(counts.possible, counts.newPossible, "may not sync"),
        ].compactMap { $0 }
        var name = paint.bold("\(collection.namespace)".printable)
        if let source = collection.reading.namespace { name += " (read from \("\(source)".printable))" }
        if collection.isInActive == false { name += " (not in \(report.active?.printable ?? "the active schema"))" }
        if let partner = collection.partner {
            name += " (keeps its schema beside its partner \("\(partner)".printable): not in the verdict)"
        } else if !collection.isCounted {
            name += " (\(collection.scope.reason): not in the verdict)"
        }
        if counts.read == 0 { return "\(name): \(read)" }
        let excepted = counts.excepted > 0 ? ", \(counts.excepted.grouped) excepted" : ""
        return "\(name): \(read), \(failing.isEmpty ? "all fit" : failing.joined(separator: ", "))\(excepted)"
    }

    /// What documents do that fit.
    private var verb: String { report.dialect == .jsonSchema ? "fit" : "sync" }

    private func failing(_ count: Int, _ new: Int, _ consequence: String) -> String? {
        guard count > 0 else { return nil }
        if report.dialect == .jsonSchema { return "\(count.grouped) \(consequence)" }
        return "\(count.grouped) \(consequence) (\(new.grouped) not in the ledger)"
    }
}

extension SyncScope {
    /// Why the documents of such a collection do not count.
    fileprivate var reason: String {
        switch self {
        case .synced: "synced"
        case .asymmetric: "clients only write to it"
        case .outside: "outside the synced data source"
        }
    }
}
