import BSON
import Checking
import Reporting
import SchemaChange
import ServerSchema
import Testing

@Suite struct CheckReportTextTests {
    private func text(_ report: CheckReport, width: Int? = nil, isColored: Bool = false) -> String {
        CheckResult(report, policy: FailurePolicy(), showsFilters: true).text(
            TextLayout(width: width, isColored: isColored))
    }

    @Test func theVerdictComesFirstAndTheFiltersCanBeCopied() throws {
        #expect(
            try text(.fixture()) == """
                Sync itself will stop: the limit of 100,000 is reached.
                  limit      unsafe    100,000 documents will not sync (99,000 in the ledger now), at worst 100,005; \
                sync stops at 100,000
                  documents  unsafe    1,000 documents would stop syncing

                app.Person: 200,000 documents read of about 200,010, 1,023 (0.52%) do not sync (1,000 not in the \
                ledger), 5 (0.0025%) might not sync (5 not in the ledger)
                  count    share  level     rule              path     expected              found                    \
                           such as _id
                  1,023    0.52%  certain   required-missing  email    string                missing                  \
                           507f1f77bcf86cd799439011
                    db.getCollection("Person").find({ "email": { "$exists": false } })
                      5  0.0025%  possible  binary-subtype    blobs[]  binData of subtype 0  binData of subtype 5, not \
                16 bytes  NumberLong("1099511627776")
                    db.getCollection("Person").find({ "$expr": { "$ne": ["$n", NaN] } })  // finds more than these
                  2 more findings are counted but not listed: too many kinds.
                app.Pet: 1,500 documents read, all fit

                Note: majority reads are not available

                201,500 documents of mongodb://localhost read in 12.3 s.

                """)
    }

    @Test func aTableTooWideForTheTerminalHasItsTextsWrapped() throws {
        let narrow = try text(.fixture(), width: 80)
        #expect(
            narrow.contains(
                """
                  count  level     rule              path     found
                  1,023  certain   required-missing  email    missing
                    such as _id ObjectId("507f1f77bcf86cd799439011")
                """))
        #expect(try text(.fixture(), width: 160) == text(.fixture()))
    }

    @Test func eachBandHasItsHeadline() throws {
        func headline(_ ledger: Int?, _ certain: Int) throws -> Substring? {
            try text(.fixture(ledgerCount: ledger, certain: certain)).split(separator: "\n").first
        }
        #expect(try headline(nil, 23) == "0 documents would stop syncing.")
        #expect(try headline(nil, 24) == "1 document would stop syncing.")
        #expect(
            try headline(99_995, 23)
                == "Sync itself might stop: with all possible findings, the limit of 100,000 is reached.")
        #expect(try headline(99_999, 24) == "Sync itself will stop: the limit of 100,000 is reached.")
        #expect(try headline(100_000, 23) == "Sync itself has stopped: the limit of 100,000 is reached.")
    }

    /// The report calls the deployment of a schema safe only if three parts of its verdict are safe.
    ///
    /// The parts are the documents, the limit on unsynced documents, and the schema change.
    @Test func onlyAllThreeTogetherAreSafe() throws {
        var report = try CheckReport.fixture(ledgerCount: nil, certain: 23)
        #expect(!text(report).contains("Safe to deploy"))
        report.active = CheckReport.ActiveSchema(
            name: "v1",
            difference: .computed(DiffReport(old: "v1", new: "v2", dialect: .appServices, changes: [])))
        #expect(
            text(report).hasPrefix(
                """
                Safe to deploy: 0 documents would stop syncing.

                """))
        let safe = report
        for spoil in [
            { $0.verdict.newCertain = 1 }, { $0.verdict.limit = 5 }, { $0.verdict.isLedgerUnread = true },
            { $0.active?.difference = nil },
            { $0.absent = [Namespace(database: "app", collection: "TaskV2")] },
            { $0.collections[0].reading.selection = .sample(1) },
        ] as [(inout CheckReport) -> Void] {
            var report = safe
            spoil(&report)
            #expect(!report.isSafe)
            #expect(!text(report).contains("Safe to deploy"), "\(text(report))")
            #expect(CheckReportJSON(report).text.contains("\"safe\": false"))
        }
    }

    /// The report names at most six collections; the first is the one with the most failing documents.
    @Test(arguments: [
        (1, "`prisma.A.findMany()` fail."), (3, "queries fail: C 3, B 2, A 1."),
        (8, "queries fail: H 8, G 7, F 6, E 5, D 4, C 3 and 2 more collections."),
    ])
    func theModelsWithTheMostFailuresAreNamed(_ count: Int, _ models: String) throws {
        let collections = "ABCDEFGH".prefix(count).enumerated().map { index, name in
            var counts = DocumentCounts()
            (counts.read, counts.certain) = (10, index + 1)
            counts.unexcepted.certain = index + 1
            return CheckReport.Collection(
                namespace: Namespace(database: "app", collection: String(name)), counts: counts)
        }
        var report = CheckReport(source: "test", collections: collections, ledger: nil, duration: .zero)
        report.rules.dialect = .prisma
        let documents = count == 1 ? "1 document" : "\(count * (count + 1) / 2) documents"
        #expect(text(report).hasPrefix("\(documents) would make \(models)"))
    }

    /// A document may fit its validator and still break a rule of a sync engine.
    ///
    /// The server accepts updates of such a document, so the report must not say that the server refuses them.
    @Test func onlyADocumentThatDoesNotFitTheSchemaMentionsTheValidator() throws {
        var report = try CheckReport.fixture(ledgerCount: nil)
        (report.rules.dialect, report.rules.engine) = (.jsonSchema, .powersync)
        let refusal = "the server refuses updates of documents that do not fit the schema, unless an update fixes"
        #expect(text(report).contains(refusal))
        let email = report.collections[0].groups[0]
        report.collections[0].groups[0].violation = Violation(
            path: email.violation.path, rule: RuleCode(rawValue: "powersync-date"), level: .certain, expected: "a",
            found: "b")
        #expect(!text(report).contains("validationLevel"))
        report.rules.engine = nil
        #expect(text(report).contains("the server refuses updates of these documents that do not fix them"))
    }

    @Test func aMissingLedgerIsNamed() throws {
        var report = try CheckReport.fixture(ledgerCount: nil)
        report.verdict.limit = 1_002
        #expect(text(report).contains("  1,000 documents will not sync (no ledger was found), at worst 1,005"))
    }

    @Test func colorsOnlyWhenAsked() throws {
        #expect(try !text(.fixture()).contains("\u{1B}"))
        #expect(try text(.fixture(), isColored: true).hasPrefix("\u{1B}[31;1mSync itself"))
    }
}
