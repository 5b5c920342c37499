import Checking
import Testing

@testable import Reporting

/// Tests that text for a terminal is not wider than the terminal, except for commands and names, which a user must be
/// able to copy.
@Suite struct WidthTests {
    private func long(_ text: String, _ width: Int) -> [Substring] {
        text.split(separator: "\n").filter { line in
            line.count > width && !line.contains("db.getCollection(") && line.drop { $0 == " " }.contains(" ")
        }
    }

    @Test(arguments: [50, 80, 120]) func aCheckStaysWithin(_ width: Int) throws {
        let check = CheckResult(try .fixture(), policy: FailurePolicy(), showsFilters: true)
        #expect(long(check.text(TextLayout(width: width)), width) == [])
    }

    /// Lines are broken correctly even if a verdict is coloured, or if a word is longer than the terminal is wide.
    @Test(arguments: [20, 50, 80, 120]) func aLongLineContinuesBelowWithAllItsWords(_ width: Int) {
        let sentence = String(repeating: "one two-three four ", count: 9)
        let name = String(repeating: "x", count: 130)
        let text = "\(Paint(isOn: true)(.error, sentence))\n\n    \(sentence)\n  \(name) end\nshort"
        let fitted = text.fitted(to: width)
        func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
        #expect(words(fitted) == words(text))
        let lines = fitted.split(separator: "\n")
        let tooLong = lines.filter { Paint.visibleCount(of: $0) > width && $0.drop { $0 == " " }.contains(" ") }
        #expect(tooLong == [])
        let below = lines.drop { !$0.hasPrefix("    one") }.dropFirst().prefix { !$0.hasPrefix("  x") }
        #expect(below.allSatisfy { $0.hasPrefix("      ") && !$0.hasPrefix("       ") }, "\(fitted)")
        #expect(text.fitted(to: nil) == text)
    }

    @Test func aCommandStaysWhole() {
        let command = "  db.getCollection(\"a\").find(\(String(repeating: "{a: 1}, ", count: 20)))"
        #expect(command.fitted(to: 50) == command)
    }

    @Test(arguments: [
        "Next: ", "Next, for each job: ", "To undo the job: ", "the job is paused; resume it with: ",
        "recorded: the new schema is live, not verified; run the job again: ",
    ])
    func aProposedCommandStaysWhole(_ lead: String) {
        let command = "shipshape check 'schemas of June/v2' --active v1 --collection app.Person --config other.yml"
        let lines = "\(lead)\(command)".fitted(to: 50).split(separator: "\n")
        #expect(lines.last.map { $0.drop { $0 == " " } } == command[...])
        #expect(lines.dropLast().allSatisfy { $0.count <= 50 })
        #expect("\(lead)\(command)".wrapped(to: 50).last == command)
    }

    /// No line break separates a flag from its path, because a user may search a report for both together.
    @Test(arguments: 40...80) func aFlagIsNotPartedFromItsPath(_ width: Int) {
        let lines = "links become embedded objects; plan with --embed app.Person.dog to accept it".wrapped(to: width)
        #expect(lines.count { $0.contains("--embed app.Person.dog") } == 1)
        #expect(lines.allSatisfy { $0.count <= width })
    }

    @Test(arguments: [50, 80, 120]) func aTableIsCompleteOrBecomesLines(_ width: Int) {
        let columns =
            [Report.Column(title: "name")] + (1...6).map { Report.Column(title: "figure \($0)", isNumber: true) }
        let table = Report.Table(
            title: "T", columns: columns,
            rows: (1...3).map { row in [Report.Cell("row \(row)")] + (1...6).map { Report.Cell("\($0)") } })
        let lines = lines(of: table, width)
        #expect(lines.allSatisfy { $0.count <= width })
        // In a table that is too wide, the last columns follow below each row.
        #expect(lines.count == (width == 50 ? 7 : 4), "\(lines)")
    }

    /// A long text is wrapped within its column.
    @Test func longCellsAreWrapped() {
        let columns = ["rule", "finding", "what to do"].map { Report.Column(title: $0) }
        let table = Report.Table(
            title: "T", columns: columns,
            rows: [["missing", "the primary key is not listed in required", "list _id in required"]])
        #expect(
            lines(of: table, 60) == [
                "  rule     finding                      what to do",
                "  missing  the primary key is not       list _id in required",
                "           listed in required",
            ])
        #expect(
            lines(of: table, 40) == [
                "  rule     finding        what to do",
                "  missing  the primary    list _id in",
                "           key is not     required",
                "           listed in",
                "           required",
            ])
    }

    private func lines(of table: Report.Table, _ width: Int) -> [String] {
        var report = Report(command: "c", title: "t", headline: "h", level: .good)
        report.tables = [table]
        return TextReport(report, TextLayout(width: width)).text.split(separator: "\n").dropFirst(2).map(String.init)
    }
}
