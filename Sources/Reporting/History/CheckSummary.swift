package import BSON
package import Checking
import ServerSchema

/// What a check found, in counts alone: what is kept of it in a history.
package struct CheckSummary: Hashable, Sendable {
    /// How many documents have a finding, by what it is of.
    package struct Finding: Hashable, Sendable {
        var collection: String
        var rule: String
        var path: String
        var documents: Int
    }

    /// When it ended.
    package var at: ServerTime
    /// Where the documents came from, without credentials.
    package var source: String
    /// What the schema was read from, as the operator named it.
    package var schema: String
    /// The documents that were read.
    package var documents: Int
    /// The documents that would stop syncing.
    package var failing: Int
    /// The documents that might stop syncing.
    package var possible: Int
    /// The entries of the ledger; `nil` where none was read.
    package var unsynced: Int?
    /// The entries that may still be added to it; `nil` where there is no limit.
    package var headroom: Int?
    /// The collections that were read.
    package var collections: [String]
    /// What was found, without what the operator accepts.
    package var findings: [Finding]
}

extension CheckSummary {
    /// What is kept of a report.
    /// - Parameter schema: what the schema was read from, as the operator named it.
    package init(_ report: CheckReport, schema: String, at time: ServerTime) {
        let total = report.total
        let groups = report.collections.flatMap { collection in
            collection.groups.filter { $0.exception == nil && $0.violation.level >= .warning }.map { group in
                Finding(
                    collection: "\(collection.namespace)", rule: group.violation.rule.rawValue,
                    path: "\(group.violation.path)", documents: group.count)
            }
        }
        self.init(
            at: time, source: report.source, schema: schema, documents: report.readCount,
            failing: report.verdict.stopping, possible: total.changes?.newlyPossible ?? total.newPossible,
            unsynced: report.verdict.ledger?.entries,
            headroom: report.dialect == .appServices ? report.verdict.headroom : nil,
            collections: report.collections.map { "\($0.namespace)" },
            findings: Dictionary(grouping: groups) { [$0.collection, $0.rule, $0.path] }.values.map { same in
                var finding = same[0]
                finding.documents = same.reduce(0) { $0 + $1.documents }
                return finding
            }.sorted { ($0.collection, $0.path, $0.rule) < ($1.collection, $1.path, $1.rule) })
    }
}

/// Why a file is no summary of a check, a clause.
package struct CheckSummaryError: Error, CustomStringConvertible {
    package let description: String

    /// Says what is wrong.
    package init(_ description: String) { self.description = description }
}

extension CheckSummary {
    /// The version of the file's shape.
    private static let schemaVersion = 1
    /// What tells it from other files of ours.
    private static let record = "check_summary"

    /// The file that is kept of it.
    package var text: String {
        ReportValue.object(
            JSONReport.head(version: Self.schemaVersion) + [("record", .string(Self.record))] + members
                + [
                    ("collections", .array(collections.map { .string($0) })),
                    (
                        "findings",
                        .array(
                            findings.map { finding in
                                .object([
                                    ("collection", .string(finding.collection)), ("rule", .string(finding.rule)),
                                    ("path", .string(finding.path)), ("documents", .integer(finding.documents)),
                                ])
                            })
                    ),
                ]
        ).text() + "\n"
    }

    /// When, of what, and the counts.
    var members: [(String, ReportValue)] {
        [
            ("at", .string(at.iso8601)), ("at_ms", .integer(Int(at.milliseconds))),
            ("source", .string(source)), ("schema", .string(schema)),
            ("documents_read", .integer(documents)), ("failing", .integer(failing)), ("possible", .integer(possible)),
            ("ledger_entries", unsynced.map { .integer($0) } ?? .null),
            ("headroom", headroom.map { .integer($0) } ?? .null),
        ]
    }

    /// Reads a file that was kept.
    package init(parsing text: String) throws(CheckSummaryError) {
        let document: BSONDocument
        do throws(BSONError) { document = try BSONDocument(extendedJSON: text) } catch {
            throw CheckSummaryError("it is no JSON object, or not whole")
        }
        try self.init(document)
    }

    /// Reads what was kept, also with fields beside it.
    package init(_ document: BSONDocument) throws(CheckSummaryError) {
        guard document["record"]?.text == Self.record else {
            throw CheckSummaryError("it is not the summary of a check")
        }
        guard document["schema_version"]?.integer == Self.schemaVersion else {
            throw CheckSummaryError("another version of shipshape wrote it")
        }
        guard let time = document["at_ms"]?.integer, let source = document["source"]?.text,
            let schema = document["schema"]?.text, let documents = document["documents_read"]?.integer,
            let failing = document["failing"]?.integer, let possible = document["possible"]?.integer,
            let collections = document["collections"]?.document?.values.map(\.text),
            let findings = document["findings"]?.document?.values.map({ $0.document.flatMap(Finding.init) }),
            !collections.contains(nil), !findings.contains(nil)
        else { throw CheckSummaryError("a part of it is missing") }
        self.init(
            at: ServerTime(milliseconds: Int64(time)), source: source, schema: schema, documents: documents,
            failing: failing, possible: possible, unsynced: document["ledger_entries"]?.integer,
            headroom: document["headroom"]?.integer, collections: collections.compactMap(\.self),
            findings: findings.compactMap(\.self))
    }
}

extension CheckSummary.Finding {
    fileprivate init?(_ document: BSONDocument) {
        guard let collection = document["collection"]?.text, let rule = document["rule"]?.text,
            let path = document["path"]?.text, let documents = document["documents"]?.integer
        else { return nil }
        self.init(collection: collection, rule: rule, path: path, documents: documents)
    }
}
