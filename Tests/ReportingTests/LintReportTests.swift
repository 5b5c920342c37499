import BSON
import Foundation
import Reporting
import ServerSchema
import Testing

@Suite struct LintReportTests {
    private static let pet = Namespace(database: "shop", collection: "Pet")

    private func report(_ findings: [LintFinding], only: Namespace? = nil) throws -> LintReport {
        let text = #"{"title": "Pet", "properties": {"_id": {"bsonType": "int"}}}"#
        return LintReport(
            source: "app", schema: try ServerSchema.read(text: text, namespace: Self.pet), findings: findings,
            only: only)
    }

    private static let findings = [
        LintFinding(
            .idNotRequired, .warning, namespace: pet, path: SchemaPath([.field("_id")]),
            at: SourceLocation(file: "app/Pet.json", line: 1, column: 40), "the primary key is optional",
            remedy: "list _id in required"),
        LintFinding(
            .developmentMode, .warning, at: SourceLocation(file: "app/sync.json", line: 12, column: 3),
            "clients may change the schemas"),
        LintFinding(.mongodbVersion, .error, at: SourceLocation(whole: "mongodb://host"), "MongoDB 4.2 is too old"),
    ]

    @Test func theWorstFileComesFirst() throws {
        func text(_ findings: [LintFinding], isColored: Bool = false) throws -> String {
            LintResult(try report(findings), isStrict: false).text(TextLayout(isColored: isColored))
        }
        #expect(
            try text(Self.findings) == """
                1 error, 2 warnings in 1 schema of app.

                mongodb://host
                  level  rule             path  finding                 what to do
                  error  mongodb-version        MongoDB 4.2 is too old

                app/Pet.json (shop.Pet)
                  place  level    rule             path  finding                      what to do
                  1:40   warning  id-not-required  _id   the primary key is optional  list _id in required

                app/sync.json
                  place  level    rule              path  finding                         what to do
                  12:3   warning  development-mode        clients may change the schemas

                """)
        #expect(try text([]) == "Nothing found in 1 schema of app.\n")
        #expect(try text([], isColored: true).hasPrefix("\u{1B}["))
    }

    @Test func oneCollectionIsReportedAlone() throws {
        #expect(try report(Self.findings, only: Self.pet).findings.map(\.code) == [.idNotRequired])
        #expect(try report(Self.findings, only: Self.pet).count(of: .warning) == 1)
    }

    /// If there are very many findings, the most severe are listed, and all are counted.
    @Test func theMostSevereFindingsAreListed() throws {
        let place = SourceLocation(file: "a.json", line: 1, column: 1)
        let many = (0..<5_001).map { LintFinding(.typeMissing, .warning, at: place, "f\($0)") }
        let report = try report(many + Self.findings)
        #expect(report.count(of: .error) == 1 && report.count(of: .warning) == 5_003)
        let words = "4 findings not listed: these are the 5,000 most severe"
        let result = LintResult(report, isStrict: false)
        #expect(result.text(TextLayout()).contains("\nNote: \(words)\n"))
        let json = result.json.text
        #expect(json.contains("\"\(words)\"") && json.contains("\"error\": 1") && json.contains("mongodb-version"))
        #expect(json.components(separatedBy: "\"code\"").count == 5_001)
        #expect(SARIFReport(result.report).text.contains(words))
        let all = LintResult(try self.report(Array(many.prefix(5_000))), isStrict: false)
        #expect(!all.json.text.contains("not listed"))
    }

    @Test func machinesGetTheSame() throws {
        #expect(
            LintResult(try report([Self.findings[0], Self.findings[2]]), isStrict: false).json.text == """
                {
                  "schema_version": 1,
                  "tool_version": "0.1.0",
                  "commit": null,
                  "command": "lint",
                  "source": "app",
                  "collections": [
                    "shop.Pet"
                  ],
                  "findings": [
                    {
                      "level": "warning",
                      "code": "id-not-required",
                      "database": "shop",
                      "collection": "Pet",
                      "path": "_id",
                      "file": "app/Pet.json",
                      "line": 1,
                      "column": 40,
                      "message": "the primary key is optional",
                      "remedy": "list _id in required"
                    },
                    {
                      "level": "error",
                      "code": "mongodb-version",
                      "database": null,
                      "collection": null,
                      "path": "(root)",
                      "file": "mongodb://host",
                      "line": null,
                      "column": null,
                      "message": "MongoDB 4.2 is too old",
                      "remedy": null
                    }
                  ],
                  "notes": [],
                  "counts": {
                    "error": 1,
                    "warning": 1,
                    "info": 0
                  }
                }

                """)
    }
}
