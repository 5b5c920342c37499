import Testing
import TextTable

@testable import Reporting

/// Texts at a terminal stay within its columns, save what is copied as it stands: a command, a name.
@Suite struct WidthTests {
    private func long(_ text: String, _ width: Int) -> [Substring] {
        text.split(separator: "\n").filter { line in
            line.count > width && !line.contains("db.getCollection(") && line.drop { $0 == " " }.contains(" ")
        }
    }

    @Test(arguments: [50, 80, 120]) func aCheckStaysWithin(_ width: Int) throws {
        #expect(long(try CheckReportText(.fixture(), width: width).text, width) == [])
    }

    @Test(arguments: [50, 80, 120]) func aTableIsWholeOrToldInLines(_ width: Int) {
        let columns =
            [Report.Column(title: "name")] + (1...6).map { Report.Column(title: "figure \($0)", isNumber: true) }
        let table = Report.Table(
            title: "T", columns: columns,
            rows: (1...3).map { row in [Report.Cell("row \(row)")] + (1...6).map { Report.Cell("\($0)") } })
        let lines = TextTable.lines(of: table, width: width)
        #expect(lines.allSatisfy { $0.count <= width })
        // A name and two lines for each row, or a row each below the head.
        #expect(lines.count == (width == 50 ? 9 : 4), "\(lines)")
    }
}
