import BSON
import Checking
import Foundation
import SchemaChange
import ServerSchema
import Testing

@testable import Reporting

/// Tests the forms `sarif` and `gitlab`, in which every finding has a position in a file and a fingerprint.
@Suite struct CodeScanningFormsTests {
    private typealias Object = [String: Any]

    private func object(_ text: String) throws -> Object {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
    }

    private func run(_ report: Report) throws -> Object {
        let log = try object(SARIFReport(report).text)
        #expect(log["version"] as? String == "2.1.0")
        return try #require((log["runs"] as? [Object])?.first)
    }

    private func results(_ report: Report) throws -> [Object] { try #require(try run(report)["results"] as? [Object]) }

    private func issues(_ report: Report) throws -> [Object] {
        try #require(try JSONSerialization.jsonObject(with: Data(GitLabReport(report).text.utf8)) as? [Object])
    }

    private func place(_ result: Object) throws -> (uri: String, line: Int?) {
        let location = try #require((result["locations"] as? [Object])?.first?["physicalLocation"] as? Object)
        let uri = try #require((location["artifactLocation"] as? Object)?["uri"] as? String)
        return (uri, (location["region"] as? Object)?["startLine"] as? Int)
    }

    private func fingerprint(_ result: Object) -> String? {
        (result["partialFingerprints"] as? [String: String])?["shipshape/v1"]
    }

    @Test func aChangeIsShownAtItsLineWithItsRule() throws {
        let report = DiffResult(try DiffFixture.report()).report
        let run = try run(report)
        let results = try results(report)
        #expect(results.map { $0["ruleId"] as? String }.prefix(2) == ["property-type-changed", "property-removed"])
        #expect(results.map { $0["level"] as? String }.prefix(3) == ["error", "error", "note"])
        #expect(try place(results[0]) == ("v2.json", 2))
        let message = try #require((results[0]["message"] as? Object)?["text"] as? String)
        #expect(message.hasPrefix("app.Person: n: string → int (server: breaking, clients: breaking)\n"))
        let driver = try #require((run["tool"] as? Object)?["driver"] as? Object)
        let rules = try #require(driver["rules"] as? [Object])
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
        }
        let help = try #require((rules[0]["help"] as? Object)?["text"] as? String)
        #expect(help.hasSuffix("`shipshape explain property-type-changed` explains the rule."))
        #expect((run["automationDetails"] as? Object)?["id"] as? String == "shipshape-diff/")
    }

    @Test func gitLabGetsTheSameFindings() throws {
        let report = DiffResult(try DiffFixture.report()).report
        let (issues, results) = (try issues(report), try results(report))
        #expect(issues.map { $0["fingerprint"] as? String } == results.map(fingerprint))
        #expect(issues.map { $0["check_name"] as? String } == results.map { $0["ruleId"] as? String })
        #expect(issues.map { $0["severity"] as? String } == ["critical", "critical", "info", "info", "info"])
        let location = try #require(issues[0]["location"] as? Object)
        #expect(location["path"] as? String == "v2.json")
        #expect((location["lines"] as? [String: Int]) == ["begin": 2])
        #expect(
            issues[0]["description"] as? String
                == results[0]["message"].flatMap { message in
                    ((message as? Object)?["text"] as? String)?.split(separator: "\n").first.map { String($0) }
                })
    }

    /// A build server counts a finding as a failure exactly if the command exits with 1 because of that finding.
    @Test(arguments: [FailurePolicy(), FailurePolicy(includesPossible: true), FailurePolicy(documents: .none)])
    func onlyFailingFindingsAreErrors(_ policy: FailurePolicy) throws {
        let report = CheckResult(try .fixture(), policy: policy).report
        let expected = report.parts.count(where: \.isFailure) + report.findings.count { $0.finding.isFailure }
        #expect(expected > 0)
        #expect(try results(report).count { $0["level"] as? String == "error" } == expected)
        #expect(try issues(report).count { $0["severity"] as? String == "critical" } == expected)
    }

    /// GitHub refuses a file in which one result has no position, and GitLab ignores issues without a path.
    @Test func everyFindingHasAPosition() throws {
        var report = CheckResult(try .fixture(), policy: FailurePolicy()).report
        report.file = nil
        #expect(try Set(results(report).map { try place($0).uri }) == ["shipshape%20check", "app.Person"])
        report.file = "./schemas/v2"
        #expect(try results(report).allSatisfy { try place($0) == ("schemas/v2", nil) })
        for issue in try issues(report) {
            let location = try #require(issue["location"] as? Object)
            #expect(location["path"] as? String == "schemas/v2" && location["lines"] as? [String: Int] == ["begin": 1])
        }
    }

    @Test func aFindingAboutDocumentsIsShownAtThePartOfTheSchema() throws {
        let people = Namespace(database: "app", collection: "Person")
        let schema = try ServerSchema.read(
            text: """
                {"title": "Person", "properties": {"_id": {"bsonType": "int"},
                "email": {"bsonType": "string"},
                "blobs": {"bsonType": "array",
                "items": {"bsonType": "binData"}}}}
                """, file: "HEAD:app/Person.json", namespace: people)
        let places = SchemaPlaces(schema, of: "HEAD:app") { $0.replacing("HEAD:", with: "") }
        let report = CheckResult(try .fixture(), policy: FailurePolicy(), places: places).report
        #expect(report.findings.map { $0.finding.place?.line } == [2, 4])
        #expect(report.findings.allSatisfy { $0.finding.place?.file == "app/Person.json" })
        // If the schema does not define a field, a finding about the field is shown at the object around it.
        #expect(places.place(of: SchemaPath([.field("other"), .field("x")]), in: people)?.line == 1)
        #expect(places.place(of: SchemaPath(), in: Namespace(database: "app", collection: "Pet")) == nil)
    }

    @Test func aFingerprintStaysWhileCountsAndLinesChange() throws {
        func fingerprints(_ report: Report) throws -> [String] { try results(report).compactMap(fingerprint) }
        // In both checks, the ledger is far from its limit. A full ledger would be one more finding.
        let before = try fingerprints(CheckResult(try .fixture(ledgerCount: 0), policy: FailurePolicy()).report)
        let after = try fingerprints(
            CheckResult(try .fixture(ledgerCount: 0, certain: 100), policy: FailurePolicy()).report)
        #expect(before == after && Set(before).count == before.count)
        var check = try CheckReport.fixture()
        check.collections[0].groups[1].violation = Violation(
            path: SchemaPath([.field("blobs"), .elements]), rule: Rule.binarySubtype.code, level: .possible,
            expected: "binData of subtype 0", found: "binData of subtype 6")
        #expect(try fingerprints(CheckResult(check, policy: FailurePolicy()).report).last != before.last)
        // Two findings of one rule at one path of one file have two fingerprints.
        var twice = Report(command: "lint", title: "t", headline: "h", level: .error)
        let finding = Report.Finding(
            level: .error, isFailure: true, code: "c", subject: "s", message: "m", cells: [])
        twice.sections = [Report.Section(name: "f", findings: [finding, finding])]
        #expect(try Set(fingerprints(twice)).count == 2)
    }

    @Test func anAcceptedFindingIsSuppressed() throws {
        var check = try CheckReport.fixture()
        check.collections[0].groups[0].exception = FindingException(
            namespace: check.collections[0].namespace, path: "email", rule: Rule.requiredMissing.code,
            acceptance: Acceptance(
                reason: "imported", owner: "ada", expires: nil,
                location: SourceLocation(file: "e.yml", line: 1, column: 1)))
        let results = try results(CheckResult(check, policy: FailurePolicy()).report)
        let accepted = results.filter { $0["suppressions"] != nil }
        #expect(accepted.count == 1 && accepted[0]["level"] as? String == "note")
        #expect((accepted.first?["suppressions"] as? [[String: String]])?.first?["justification"] == "imported")
    }

    @Test func namesAreNoMarkup() throws {
        let results = try results(DiffResult(try DiffFixture.nasty()).report)
        #expect(try place(results[0]).uri == "dir%2Ca%3Ab%25/v1.json")
        var report = Report(command: "lint", title: "t", headline: "h", level: .error)
        report.sections = [
            Report.Section(
                name: "[x](http://evil)",
                findings: [
                    Report.Finding(
                        level: .error, isFailure: true, code: "c", subject: "", message: "\u{202E}m", cells: [])
                ])
        ]
        let message = try #require((try self.results(report)[0]["message"] as? Object)?["text"] as? String)
        #expect(message == #"[x] (http://evil): \u202em"#)
    }
}
