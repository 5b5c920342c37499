import BSON
public import SchemaChange
import ServerSchema

/// The changes between two schemas as JSON.
///
/// The text is one object with its keys in a fixed order, the verdict last. The lines are one for each change, and the
/// last line is the `result`.
public struct DiffJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    public static var schemaVersion: Int { 1 }

    private let report: DiffReport

    /// Wraps a report.
    public init(_ report: DiffReport) { self.report = report }

    /// The JSON text, indented, which ends with a line break.
    public var text: String { json.text }

    /// The JSON lines: a header, a line for each change, hint and note, and the `result`.
    public var lines: String { json.lines }

    var json: JSONReport {
        JSONReport(
            "diff", version: Self.schemaVersion,
            [
                ("dialect", .string(report.dialect.rawValue)), ("old", .string(report.old)),
                ("new", .string(report.new)),
                ("source", report.source.map { .string($0) } ?? .null),
                ("changes", .array(report.changes.indices.map { .object(change($0)) })),
                ("hints", .array(report.hints.map { .object(hint($0)) })),
                ("notes", .array(report.notes.map { .string($0) })), ("verdict", .object(verdict)),
            ])
    }

    private func change(_ index: Int) -> [(String, ReportValue)] {
        let change = report.changes[index]
        return [
            ("code", .string(change.code.rawValue)), ("verdict", .string(change.kind.verdict.rawValue)),
            ("server", .string(change.server.rawValue)), ("client", .string(change.client.rawValue)),
            ("database", change.namespace.map { .string($0.database) } ?? .null),
            ("collection", change.namespace.map { .string($0.collection) } ?? .null),
            ("path", .string("\(change.path)")), ("description", .string(change.description)),
            ("old", side(change.old)), ("new", side(change.new)),
            ("consequences", .array(change.kind.consequences.map { .string($0.rawValue) })),
            ("advice", .string(change.kind.advice)), ("source", source(change.kind.source)),
            ("partner", change.partner.map(partner) ?? .null),
            ("rename_hint", report.hint(for: change).map { .string($0.rename) } ?? .null),
            ("documents", report.weights?[index].map(weight) ?? .null), ("fails", .bool(report.fails(change))),
        ]
    }

    private func side(_ side: SchemaChange.Side?) -> ReportValue {
        guard let side else { return .null }
        let hasPlace = side.location.line > 0
        return .object([
            ("database", side.namespace.map { .string($0.database) } ?? .null),
            ("collection", side.namespace.map { .string($0.collection) } ?? .null),
            ("path", .string("\(side.path)")),
            ("type", side.node.map { .string($0.expectation(asRoot: side.path.isRoot)) } ?? .null),
            ("required", .bool(side.isRequired)), ("file", .string(side.location.file)),
            ("line", hasPlace ? .integer(side.location.line) : .null),
            ("column", hasPlace ? .integer(side.location.column) : .null),
        ])
    }

    private func partner(_ partner: PartnerCollection) -> ReportValue {
        let time: ServerTime? =
            switch partner.state {
            case .verified(let time), .cutOver(let time): time
            case .unverified: nil
            }
        return .object([
            ("job", .string(partner.name)), ("source", .string("\(partner.source)")),
            ("target", .string("\(partner.target)")), ("verified", time.map { .string($0.iso8601) } ?? .null),
        ])
    }

    private func source(_ source: ChangeKind.Source) -> ReportValue {
        .object([
            ("basis", .string(source.basis.rawValue)), ("text", .string(source.text)),
            ("quick_reference", source.quickReference.map { .string($0) } ?? .null),
        ])
    }

    private func weight(_ weight: ChangeWeight) -> ReportValue {
        .object([
            ("total", .integer(weight.documents)), ("holding", .integer(weight.withField)),
            ("lacking", .integer(weight.withoutField)),
            ("types", .object(weight.types.map { ($0.type, .integer($0.documents)) })),
        ])
    }

    private func hint(_ hint: RenameHint) -> [(String, ReportValue)] {
        [("rename", .string(hint.rename)), ("reason", .string(hint.reason))]
    }

    private var verdict: [(String, ReportValue)] {
        [
            ("worst", report.verdict.map { .string($0.rawValue) } ?? .null),
            ("changes", .integer(report.changes.count)), ("breaking", .integer(report.count(of: .breaking))),
            ("versioned", .integer(report.count(of: .versioned))),
            ("served", .integer(report.count(of: .served))),
            ("non_breaking", .integer(report.count(of: .nonBreaking))),
            ("consequences", .array(report.consequences.map { .string($0.rawValue) })),
            ("fail_on", .string(report.failOn.rawValue)), ("failed", .bool(report.hasFailed)),
        ]
    }
}
