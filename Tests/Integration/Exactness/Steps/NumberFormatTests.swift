import BSON
import TestSupport
import Testing

/// Tests of `convert` from texts with separators to numbers.
@Suite struct NumberFormatTests {
    /// A format with texts that are numbers in it, and texts that are none.
    private static let spellings: [(format: String, read: KeyValuePairs<String, Double>, others: [String])] = [
        (
            "1,234.56",
            [
                "1,234.56": 1_234.56, "1234.56": 1_234.56, "1,234": 1_234, "-12,345,678.5": -12_345_678.5, "0.50": 0.5,
                "7": 7, "999": 999,
            ],
            [
                "1.234,56", "12,34", "1,2345", "1,234,56", "1234,567", "1,234.", ".5", "1,,234", "1 234", " 1,234",
                "1,234\n", "1,234.5.6", "1e3", "NaN", "Infinity", "007", "+5", "0,123", "", ",", "٣",
                "1,234\u{0}", String(repeating: "1", count: 500),
            ]
        ),
        (
            "1.234,56", ["1.234,56": 1_234.56, "1.234": 1_234, "0,5": 0.5, "1234,5": 1_234.5],
            ["1,234.56", "1.5", "1.2"]
        ),
        (
            "1 234,56",
            ["1 234,56": 1_234.56, "1\u{A0}234\u{A0}567": 1_234_567, "1\u{202F}234,5": 1_234.5, "12,5": 12.5],
            ["1.234,56", "12 34", "1  234"]
        ),
        ("1'234.56", ["1'234.56": 1_234.56, "12.5": 12.5], ["1,234.56", "1'23"]),
        ("1234,56", ["1234,56": 1_234.56, "5": 5], ["1.234,56", "1234.56", "1,2,3"]),
    ]

    @Test(arguments: spellings.indices) func aTextIsReadInItsFormatOnly(_ index: Int) async throws {
        let (format, read, others) = Self.spellings[index]
        let texts = (read.map(\.key) + others).map { BSONDocument([("n", .string($0))]) }
        try await StepsExample(
            steps: ["convert: {field: n, to: double, format: \"\(format)\"}"],
            before: texts + [["n": 5], ["n": 1.5], ["n": nil], [:]],
            after: read.map { ["n": .double($0.value)] } + texts.dropFirst(read.count)
                + [["n": 5.0], ["n": 1.5], ["n": nil], [:]],
            reports: true
        ).check()
    }

    @Test func aFractionStaysOutOfAWholeNumberUnlessLossIsAllowed() async throws {
        let before: [BSONDocument] = [["n": "1,234.00"], ["n": "1,234.56"], ["n": "9,999,999,999"], ["n": "007"]]
        try await StepsExample(
            steps: ["convert: {field: n, to: int, format: '1,234.56'}"], before: before,
            after: [["n": 1_234]] + before.dropFirst(), reports: true
        ).check()
        try await StepsExample(
            steps: ["convert: {field: n, to: int, format: '1,234.56', onLoss: allow, into: m, remove: true}"],
            before: before, after: [["m": 1_234], ["m": 1_234], ["n": "9,999,999,999"], ["m": 7]], reports: true
        ).check()
    }

    @Test func theReasonSaysWhetherTheTextIsANumber() async throws {
        try await Mongod.shared.withBackfill { test in
            let texts = ["1,234.56", "9,999,999,999", "1.234,56", "abc"]
            try await test.database.fill(
                "people", texts.enumerated().map { ["_id": .integer($0.offset), "n": .string($0.element)] })
            try test.job(steps: ["convert: {field: n, to: int, format: '1,234.56'}"])
            let dryRun = try await test.backfill("job", "--dry-run")
            #expect(dryRun.exitCode == 1)
            for line in ["rounded", "out of range", "not a number, date or id"] {
                #expect(dryRun.output.contains(line), "\(dryRun.output)")
            }
        }
    }
}
