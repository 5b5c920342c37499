import BSON
import Checking
import Concurrency
package import Inferring
import ServerSchema

/// The report of `infer` as JSON: one object with its keys in a fixed order.
package struct InferReportJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    package static var schemaVersion: Int { 1 }

    private let report: InferReport

    /// Wraps a report.
    package init(_ report: InferReport) { self.report = report }

    /// The JSON text, indented, which ends with a line break.
    package var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "infer", version: Self.schemaVersion,
            [
                ("dialect", .string(report.options.dialect.rawValue)),
                ("source", .string(report.source)),
                ("cover", .share(report.options.cover)),
                ("strict", .bool(report.options.isStrict)),
                ("duration_ms", .integer(Int(report.duration.milliseconds))),
                ("collections", .array(report.collections.map(collection))),
                ("notes", .array(report.notes.map { .string($0) })),
                ("within_cover", .bool(report.isWithinCover)),
            ])
    }

    private func collection(_ collection: InferReport.Collection) -> ReportValue {
        let (inference, outcome) = (collection.inference, collection.outcome)
        return .object([
            ("database", .string(inference.namespace.database)),
            ("collection", .string(inference.namespace.collection)),
            ("documents_read", .integer(outcome.checked)),
            ("sample", collection.sampleSize.map { .integer($0) } ?? .null),
            ("filter", collection.filter.map { .extended(.object($0)) } ?? .null),
            ("failing", .integer(outcome.failing)),
            ("possible", .integer(outcome.possible)),
            ("within_cover", .bool(outcome.isWithinCover)),
            (
                "others",
                .object([
                    ("failing_share_at_most", .share(outcome.unseenBound)),
                    ("confidence", .share(Outcome.confidence)),
                    ("held_out", .integer(outcome.heldOut.documents)),
                    ("held_out_failing", .integer(outcome.heldOut.failing)),
                ])
            ),
            ("not_fitting", .array(outcome.groups.filter { $0.violation.level >= .possible }.map(group))),
            ("paths_folded", .bool(inference.isCrowded)),
            ("paths", .array(inference.paths.map(path))),
            ("schema", inference.prisma.map { .string($0.text) } ?? SchemaFileText(inference.schema).json),
        ])
    }

    private func group(_ group: ViolationGroup) -> ReportValue {
        let violation = group.violation
        return .object([
            ("path", .string("\(violation.path)")), ("rule", .string("\(violation.rule)")),
            ("level", .string("\(violation.level)")), ("expected", .string(violation.expected)),
            ("found", .string(violation.found)), ("documents", .integer(group.count)),
        ])
    }

    private func path(_ row: PathSummary) -> ReportValue {
        var members: [(String, ReportValue)] = [
            ("path", .string("\(row.path)")),
            ("values", .integer(row.values)),
            ("present", row.presence.map { .integer($0.count) } ?? .null),
            ("objects", row.presence.map { .integer($0.of) } ?? .null),
            ("nulls", .integer(row.nulls)),
            ("types", .object(row.types.map { ($0.type.rawValue, .integer($0.count)) })),
            ("longest_array", row.longestArray.map { .integer($0) } ?? .null),
            ("declared", .array(row.declared.map { .string($0.rawValue) })),
            ("required", .bool(row.isRequired)),
            ("dictionary", .bool(row.isDictionary)),
            ("suspicions", .array(row.suspicions.map { .string($0.rawValue) })),
        ]
        if report.options.hasEnums {
            members.append(("enum", row.candidates.map { .array($0.map { .extended($0) }) } ?? .null))
        }
        return .object(members)
    }
}

extension ReportValue {
    fileprivate static func share(_ part: Double) -> ReportValue { .extended(.double(part)) }
}
