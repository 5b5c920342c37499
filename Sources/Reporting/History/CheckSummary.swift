package import BSON
package import Checking
package import ServerSchema

/// The counts of a check, without any documents, as a history stores them.
package struct CheckSummary: Hashable, Sendable {
    /// All findings with the same collection, rule and path, and the number of documents that have them.
    ///
    /// A document counts several times if it has several of these findings, such as values of two wrong types.
    package struct Finding: Hashable, Sendable {
        var collection: String
        var rule: String
        var path: String
        var documents: Int

        /// The identity of the findings, in the order in which reports sort them.
        var key: [String] { [collection, path, rule] }
    }

    /// The time when the check ended.
    package var at: ServerTime
    /// The source of the documents, without credentials.
    package var source: String
    /// The source of the schema, as the operator named it.
    package var schema: String
    /// The dialect whose words reports use for documents that fail, such as "would stop syncing".
    package var dialect = Dialect.appServices
    package var documents: Int
    /// The number of documents that fail: they would stop syncing or, without sync, would not fit or could not be read.
    package var failing: Int
    /// The number of documents that might fail: they might stop syncing or, without sync, might not fit or be readable.
    package var possible: Int
    /// The number of entries in the ledger of unsynced documents; `nil` if no ledger was read.
    package var unsynced: Int?
    /// The number of entries that can still be added to the ledger of unsynced documents before sync stops; `nil`
    /// without Device Sync, which alone has this limit.
    package var headroom: Int?
    package var collections: [String]
    /// The findings of at least the level `warning` that no exception covers.
    package var findings: [Finding]
    /// The findings of at least the level `warning` that the operator accepts.
    package var accepted: [Finding] = []
}

extension CheckSummary {
    /// Creates the summary of a report.
    /// - Parameter schema: the source of the schema, as the operator named it.
    package init(_ report: CheckReport, schema: String, at time: ServerTime) {
        let total = report.total
        self.init(
            at: time, source: report.source, schema: schema, dialect: report.words,
            documents: report.readCount,
            failing: report.verdict.stopping, possible: total.changes?.newlyPossible ?? total.newPossible,
            unsynced: report.verdict.ledger?.entries,
            headroom: report.isOfDeviceSync ? report.verdict.headroom : nil,
            collections: report.collections.map { "\($0.namespace)" },
            findings: Self.findings(of: report) { $0.exception == nil },
            accepted: Self.findings(of: report) { $0.exception != nil })
    }

    private static func findings(
        of report: CheckReport, where isIncluded: (ViolationGroup) -> Bool
    ) -> [Finding] {
        let groups = report.collections.flatMap { collection in
            collection.groups.filter { isIncluded($0) && $0.violation.level >= .warning }.map { group in
                Finding(
                    collection: "\(collection.namespace)", rule: group.violation.rule.rawValue,
                    path: "\(group.violation.path)", documents: group.count)
            }
        }
        return Dictionary(grouping: groups, by: \.key).values.map { same in
            var finding = same[0]
            finding.documents = same.reduce(0) { $0 + $1.documents }
            return finding
        }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}

/// An error for a file or document of the history that cannot be read as the summary of a check.
package struct CheckSummaryError: Error, CustomStringConvertible {
    /// The reason why the file or document cannot be read, as a clause.
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension CheckSummary {
    private static let schemaVersion = 1
    /// The value of `record`, which distinguishes a summary from other files of the program.
    private static let record = "check_summary"

    /// The content of the summary's file.
    package var text: String {
        let found: ReportValue = [
            "collections": collections,
            "findings": findings.map(\.json), "accepted": accepted.map(\.json),
        ]
        return (JSONReport.head(version: Self.schemaVersion) + ["record": Self.record] + members + found).text() + "\n"
    }

    /// The time, the source, the schema and the counts, as members of a JSON object.
    var members: ReportValue {
        [
            "at": at.iso8601, "at_ms": Int(at.milliseconds), "source": source, "schema": schema,
            "dialect": dialect.rawValue,
            "documents_read": documents, "failing": failing, "possible": possible, "ledger_entries": unsynced,
            "headroom": headroom,
        ]
    }

    /// Reads the content of a summary's file.
    package init(parsing text: String) throws(CheckSummaryError) {
        let document: BSONDocument
        do throws(BSONError) { document = try BSONDocument(extendedJSON: text) } catch {
            throw CheckSummaryError("it is not a complete JSON object")
        }
        try self.init(document)
    }

    /// Reads a summary from a document, which may have other fields as well.
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
        // Summaries that earlier versions of the program wrote have no accepted findings.
        let accepted = document["accepted"]?.document?.values.compactMap { $0.document.flatMap(Finding.init) } ?? []
        self.init(
            at: ServerTime(milliseconds: Int64(time)), source: source, schema: schema,
            dialect: document["dialect"]?.text.flatMap(Dialect.init) ?? .appServices, documents: documents,
            failing: failing, possible: possible, unsynced: document["ledger_entries"]?.integer,
            headroom: document["headroom"]?.integer, collections: collections.compactMap(\.self),
            findings: findings.compactMap(\.self), accepted: accepted)
    }
}

extension CheckSummary.Finding {
    var json: ReportValue {
        ["collection": collection, "rule": rule, "path": path, "documents": documents]
    }

    fileprivate init?(_ document: BSONDocument) {
        guard let collection = document["collection"]?.text, let rule = document["rule"]?.text,
            let path = document["path"]?.text, let documents = document["documents"]?.integer
        else { return nil }
        self.init(collection: collection, rule: rule, path: path, documents: documents)
    }
}
