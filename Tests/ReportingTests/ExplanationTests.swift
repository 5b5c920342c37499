import Checking
import Foundation
import JobState
import SchemaChange
import ServerSchema
import Testing

@testable import Reporting

/// Each page that `explain` prints is a row of a table in the documentation, which the program carries with it, and
/// every code has a page.
@Suite struct ExplanationTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/reference")

    /// Returns the text below the heading of a section in the documentation.
    private static func text(of section: Explanation.Section) throws -> String {
        guard section != .exitCodes else {
            return try String(contentsOf: folder.appending(path: "exit-codes.md"), encoding: .utf8)
        }
        let page = try String(contentsOf: folder.appending(path: "rules.md"), encoding: .utf8)
        let parts = page.split(separator: #/\n##+ /#).map { String($0) }
        return try #require(parts.first { $0.hasPrefix("\(section.heading)\n") }, "no heading \(section.heading)")
    }

    /// Returns the table rows that the documentation must contain, one for each page of a section.
    private static func rows(of section: Explanation.Section) -> [String] {
        Explanation.all.filter { $0.section == section }.map { page in
            let code = section == .exitCodes ? page.code : "`\(page.code)`"
            let cells = section.columns.map { title in page.statements.first { $0.title == title }?.text ?? "" }
            return ([code] + cells).reduce("|") { $0 + ($1.isEmpty ? " |" : " \($1) |") }
        }
    }

    @Test(arguments: Explanation.Section.all) func theDocumentationHasTheSameRows(
        _ section: Explanation.Section
    ) throws {
        let lines = try Self.text(of: section).split(separator: "\n").map { String($0) }
        // A section may have another table before the table of its codes.
        let table = lines.filter { $0.hasPrefix("| ") }.drop { !$0.hasPrefix("| code |") }
        let header = (["code"] + section.columns).joined(separator: " | ")
        #expect(table.first == "| \(header) |")
        #expect(Array(table.dropFirst(2)) == Self.rows(of: section), "is the program built from this page?")
        #expect(table.count > 2)
    }

    /// The outcome and the remedy of an engine's rule are also in code, which reports show.
    @Test(arguments: EngineRule.all.map(\.code)) func thePageOfAnEngineSaysWhatReportsSay(_ code: RuleCode) throws {
        let rule = try #require(EngineRule.named(code))
        let page = try #require(Explanation.pages(of: code.rawValue).first { $0.section == .engine(rule.engine) })
        let statements = Dictionary(uniqueKeysWithValues: page.statements.map { ($0.title, $0.text) })
        let outcome = rule.outcome.rawValue
        #expect(statements["outcome"] == (rule.isCertain ? outcome : "might: \(outcome)"))
        #expect(statements["remedy"] == rule.remedy)
        #expect(statements["what it means"] != nil && statements["source"] != nil)
    }

    @Test(arguments: Engine.allCases.filter { $0 != .deviceSync })
    func theDocumentationNamesTheVersionOfAnEngine(_ engine: Engine) throws {
        let text = try Self.text(of: .engine(engine)).replacing("\n", with: " ")
        #expect(text.contains(engine.version), "\(engine.version)")
    }

    @Test(arguments: RuleCode.known.map(\.rawValue)) func everyRuleHasAPage(_ code: String) throws {
        #expect(!Explanation.pages(of: code).isEmpty)
    }

    @Test(arguments: ThrottleReason.known.map(\.rawValue)) func everyReasonToWaitHasAPage(_ code: String) {
        #expect(Explanation.pages(of: code).map(\.section) == [.waits])
    }

    /// An exit code has one page.
    ///
    /// A code of `lint`, `diff` or `schema infer` also has one page if it is not the name of a rule as well.
    ///
    /// `EveryCodeTests` checks that the documentation has all of these codes.
    @Test(arguments: ["id-type", "property-removed", "rare-type", "anomaly", "75"])
    func otherCodesHaveAPage(_ code: String) {
        #expect(Explanation.pages(of: code).count == 1)
    }

    @Test(arguments: WorkOrder.allCases) func everyOrderOfWorkHasAPage(_ order: WorkOrder) {
        #expect(Explanation.pages(of: order.rawValue).map(\.section) == [.orders])
    }

    /// The order of a breaking change of an App Services schema is for all changes that no other order names.
    @Test(arguments: ChangeKind.all) func anOrderNamesItsChanges(_ kind: ChangeKind) throws {
        let order = WorkOrder(of: kind, in: .appServices)
        let page = try #require(Explanation.pages(of: order.rawValue).first)
        let changes = try #require(page.statements.first { $0.title == "changes" }?.text)
        #expect(order == .syncTerminate || changes.contains("`\(kind.code)`"), "\(kind.code)")
    }

    @Test func aPageHasItsStatementsBelowEachOther() throws {
        let page = try ExplainResult(of: "powersync-depth").text(width: 70)
        let lines = page.split(separator: "\n").map { String($0) }
        #expect(lines.first == "powersync-depth: a rule of PowerSync")
        #expect(lines.contains("  outcome        halts"))
        #expect(lines.allSatisfy { $0.count <= 70 || !$0.drop { $0 == " " }.contains(" ") })
        #expect(lines.contains { $0.hasPrefix("  source") } && lines.contains { $0.hasPrefix("  version") })
    }

    @Test func aRuleOfAConstraintHasThePageOfTheRuleAndOfConstraints() throws {
        #expect(Explanation.pages(of: "constraint-below-minimum").map(\.code) == ["below-minimum", "constraint-…"])
    }

    @Test func aCodeOfTwoKindsHasBothPages() throws {
        let text = try ExplainResult(of: "binary-subtype").text(width: nil)
        #expect(text.contains("binary-subtype: a rule for documents of App Services schemas"))
        #expect(text.contains("binary-subtype: a remark of schema infer"))
    }

    @Test func anErrorOfPrismaHasTheRulesThatLeadToIt() throws {
        let missing = Explanation.pages(of: "P2032")
        #expect(missing.map(\.code).contains("required-null"))
        #expect(missing.map(\.section).dropFirst().allSatisfy { $0 == .prisma })
        #expect(missing.first?.section == .prismaErrors)
        let inconsistent = Explanation.pages(of: "P2023").map(\.code)
        #expect(inconsistent.contains("type-mismatch") && inconsistent.contains("array-not-array"))
        #expect(!inconsistent.contains("required-null"))
        #expect(throws: UnknownCode.self) { try ExplainResult(of: "P2") }
        #expect(throws: UnknownCode.self) { try ExplainResult(of: "P2999") }
    }

    @Test func aRuleOfTwoKindsOfSchemasHasBothPages() {
        #expect(Explanation.pages(of: "array-not-array").map(\.section) == [.documents, .prisma])
    }

    /// In a project, a code of several dialects has the page of the project's schema; a code of another dialect and one
    /// of none keep their pages.
    @Test(arguments: [
        ("array-not-array", Dialect.prisma, [Explanation.Section.prisma]),
        ("array-not-array", .appServices, [.documents]), ("array-not-array", .jsonSchema, [.documents]),
        ("below-minimum", .prisma, [.validators]), ("binary-subtype", .appServices, [.documents, .remarks]),
        ("powersync-date", .prisma, [.engine(.powersync)]),
    ])
    func aProjectHasThePageOfItsDialect(_ code: String, _ dialect: Dialect, _ sections: [Explanation.Section]) {
        #expect(Explanation.pages(of: code, in: dialect).map(\.section) == sections)
    }

    /// Words that are no code find recipes, and codes with all of the words.
    @Test func wordsFindCodes() throws {
        let text = try ExplainResult(of: "equal elements of a set").text(width: 80)
        #expect(text.contains("Codes:\n"))
        #expect(text.contains("\n  set-duplicate: "))
        let hints = try ExplainResult(of: "nulls", in: .prisma).text(width: 80)
        #expect(hints.contains("Codes:\n"))
    }

    /// The groups of all codes fit on one screen.
    @Test func theGroupsFitOnOneScreen() {
        let lines = ExplainResult().text(width: 80).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 82 })
        for section in Explanation.Section.all {
            #expect(lines.contains { $0.lowercased().hasPrefix("\(section.name) (".lowercased()) })
        }
    }

    @Test func theListNamesEveryCodeOnce() throws {
        let lines = try ExplainResult(of: "rules").text(width: nil).split(separator: "\n").map { $0.drop { $0 == " " } }
        for page in Explanation.all { #expect(lines.contains(page.code[...])) }
    }

    @Test func anUnknownCodeHasTheNearestOnes() {
        #expect(throws: UnknownCode.self) { try ExplainResult(of: "nothing-of-the-kind") }
        let error = #expect(throws: UnknownCode.self) { try ExplainResult(of: "powersync-dept") }
        #expect(
            error?.description.hasPrefix("there is no code \"powersync-dept\" (did you mean powersync-depth") == true)
    }

    /// An error of Prisma is found by its code, by its whole text, and by some words of it.
    @Test(arguments: [
        ("P2002", "P2002"), ("E11000", "P2002"), ("Unique constraint failed on the fields: (`email`)", "P2002"),
        ("E11000 duplicate key error collection: app.User index: User_email_key dup key: { email: null }", "P2002"),
        ("P2025", "P2025"), ("Record to update not found.", "P2025"), ("record to delete does not exist", "P2025"),
        (
            "An operation failed because it depends on one or more records that were required but not found. No 'A'",
            "P2025"
        ),
        ("Inconsistent column data: Conversion failed", "P2023"), ("Failed to convert", "type-mismatch"),
        ("Value 'ROOT' not found in enum 'Role'", "not-in-enum"), ("value not found in enum", "not-in-enum"),
        (
            "Error converting field \"age\" of expected non-nullable type \"Int\", found incompatible value of "
                + "\"null\".",
            "P2032"
        ),
        ("Transaction failed due to a write conflict or a deadlock. Please retry your transaction", "P2034"),
        ("The required connected records were not found. Expected 1 records to be connected", "P2018"),
    ])
    func anErrorOfPrismaIsFoundByItsWords(_ text: String, _ code: String) {
        #expect(Explanation.pages(of: text).map(\.code).contains(code), "\(Explanation.pages(of: text).map(\.code))")
    }

    @Test(arguments: ["the", "constraint", "nothing like this", "found", ""]) func otherTextsFindNoError(_ text: String)
    {
        #expect(Explanation.pages(of: text).isEmpty)
    }
}
