import BSON
import Checking
import Reporting
import SchemaChange
import ServerSchema

extension Bench {
    /// Measures the renderers of a diff report, and of a check report with the largest number of groups.
    mutating func measureReports() throws {
        let report = try Self.manyGroups()
        let groups = report.collections[0].groups.count
        let check = CheckResult(report, policy: FailurePolicy(), showsFilters: true)
        let size = check.text(TextLayout()).utf8.count
        measure("check report, text", bytes: size, items: groups, of: "groups") { _ = check.text(TextLayout()) }
        let json = CheckReportJSON(report)
        measure("check report, JSON", bytes: json.text.utf8.count, items: groups, of: "groups") { _ = json.text }

        let changes = try Self.manyChanges()
        let html = HTMLReport(DiffResult(changes).report)
        measure("diff report, HTML", bytes: html.text.utf8.count, items: changes.changes.count, of: "changes") {
            _ = html.text
        }
    }

    private static let namespace = Namespace(database: "bench", collection: "Order")

    /// Returns a check report with as many groups of findings as a check keeps, and with as many samples for each group
    /// as a check keeps.
    private static func manyGroups() throws -> CheckReport {
        let text = #"{"title": "Order", "properties": {"_id": {"bsonType": "int"}}, "additionalProperties": false}"#
        let schema = try ServerSchema.read(text: text, namespace: namespace)
        var tally = Tally(CompiledSchema(schema.collections[0], of: schema))
        for id in 0..<Int32(tally.options.sampleCount) {
            let fields = (0..<tally.options.maximumGroupCount).map { ("field\($0)", BSONValue.int(id)) }
            try tally.add(BSONDocument([("_id", .int(id))] + fields).view)
        }
        return CheckReport(
            source: "mongodb://host/", collections: [.init(tally)], ledger: LedgerCount(entries: 0),
            duration: .seconds(1))
    }

    /// Returns a report of 2,000 changes.
    private static func manyChanges() throws -> DiffReport {
        func schema(_ type: String) throws -> ServerSchema {
            let fields = (0..<2_000).map { "\"field\($0)\": {\"bsonType\": \"\(type)\"}" }.joined(separator: ",\n")
            let text = "{\"title\": \"Order\", \"properties\": {\"_id\": {\"bsonType\": \"int\"},\n\(fields)}}"
            return try ServerSchema.read(text: text, namespace: namespace)
        }
        let changes = SchemaDiff.changes(from: try schema("int"), to: try schema("string"))
        return DiffReport(old: "v1", new: "v2", dialect: .appServices, changes: changes)
    }
}
