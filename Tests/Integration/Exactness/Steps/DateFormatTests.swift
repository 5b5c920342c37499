import BSON
import TestSupport
import Testing

/// Tests of `convert` from texts in given formats to dates.
@Suite struct DateFormatTests {
    private static func date(_ seconds: Int64) -> BSONValue { .date(milliseconds: seconds * 1_000) }

    private static let examples = [
        StepsExample(
            steps: [
                "convert: {field: d, to: date, unit: seconds, format: [iso, epoch, '%d/%m/%Y'], zone: Europe/Madrid}"
            ],
            before: [
                ["d": "04/03/2019"], ["d": "2019-03-04"], ["d": "1551657600"], ["d": "-1"], ["d": 5], ["d": nil],
                ["d": "31/12/9999"],
            ],
            after: [
                ["d": date(1_551_654_000)], ["d": date(1_551_657_600)], ["d": date(1_551_657_600)], ["d": date(-1)],
                ["d": date(5)], ["d": nil], ["d": date(253_402_210_800)],
            ]),
        // A text that is spelled in another way, or is no date, stays.
        StepsExample(
            steps: ["convert: {field: d, to: date, format: [iso, epoch, '%d/%m/%Y %H:%M'], zone: Europe/Madrid}"],
            before: [
                "4/3/2019 10:00", "31/02/2019 10:00", "04/03/2019 10:00 ", "04/03/2019 10:00\u{0}", "x", "", "@12",
                "0x10",
                "+5", "007", "99999999999999999999", "2019-03-04T10:00:00.123456Z", "01/01/0000 00:00",
                // Clocks were set forward at two, and back at three.
                "31/03/2019 02:30", "27/10/2019 02:30", .string(String(repeating: "x", count: 200)),
            ].map { ["d": $0] },
            after: [
                "4/3/2019 10:00", "31/02/2019 10:00", "04/03/2019 10:00 ", "04/03/2019 10:00\u{0}", "x", "", "@12",
                "0x10",
                "+5", "007", "99999999999999999999", "2019-03-04T10:00:00.123456Z", "01/01/0000 00:00",
                "31/03/2019 02:30", "27/10/2019 02:30", .string(String(repeating: "x", count: 200)),
            ].map { ["d": $0] }, reports: true),
        // Clocks were set back by half an hour at two.
        StepsExample(
            steps: ["convert: {field: d, to: date, format: '%d.%m.%Y %H:%M', zone: Australia/Lord_Howe}"],
            before: [["d": "07.04.2019 01:45"], ["d": "07.04.2019 01:15"]],
            after: [["d": "07.04.2019 01:45"], ["d": date(1_554_559_200 + 900)]], reports: true),
        // A year of two digits is not read as one of the first century.
        StepsExample(
            steps: ["convert: {field: d, to: date, format: '%d/%m/%Y', onLoss: allow}"],
            before: [["d": "04/03/19"], ["d": "4/3/2019"], ["d": "04/03/0019"]],
            after: [["d": "04/03/19"], ["d": date(1_551_657_600)], ["d": date(-61_562_246_400)]], reports: true),
        StepsExample(
            steps: ["convert: {field: d, to: date, format: [iso, '%d/%m/%Y', '%m-%d-%Y %z'], onLoss: allow}"],
            before: [
                ["d": "4/3/2019"], ["d": "2019-03-04T10:00:00.123456Z"], ["d": "2019-03-04T10:00:00.1234567Z"],
                ["d": "2019-03-04T10:00:00.123456789+01:00"], ["d": "03-04-2019 +0100"],
            ],
            after: [
                ["d": date(1_551_657_600)], ["d": .date(milliseconds: 1_551_693_600_123)],
                ["d": .date(milliseconds: 1_551_693_600_123)], ["d": .date(milliseconds: 1_551_690_000_123)],
                ["d": date(1_551_654_000)],
            ]),
        StepsExample(
            steps: ["convert: {field: d, to: decimal}"],
            before: [["d": 19.99], ["d": 0.1], ["d": 5.0], ["d": -0.5], ["d": 123456789.125], ["d": "5.10"]],
            after: ["19.99", "0.1", "5", "-0.5", "123456789.125", "5.10"].map { text in
                ["d": Decimal128(text).map { .decimal($0) } ?? "no decimal"]
            }),
        StepsExample(
            steps: ["default: {field: c, generate: idTime}"], before: [[:], ["c": 1]], after: [[:], ["c": 1]],
            reports: true),
    ]

    @Test(arguments: examples) func aDateIsReadInAFormatThatGivesTheTextAgain(_ example: StepsExample) async throws {
        try await example.check()
    }

    @Test func theTimeOfAnIDIsTheServersOwn() async throws {
        try await Mongod.shared.withBackfill { test in
            let id = BSONValue.objectID(try #require(ObjectID("65a000000000000000000001")))
            try await test.database.fill("people", [["_id": id, "l": [[:], ["c": 2]]]])
            try test.job(steps: [
                "default: {field: c, generate: idTime}", "default: {field: 'l.[].c', generate: idTime}",
            ])
            let time = BSONValue.date(milliseconds: 0x65A0_0000 * 1_000)
            #expect(try await test.backfill().exitCode == 0)
            #expect(
                try await test.database.documents("people") == [
                    ["_id": id, "l": [["c": time], ["c": 2]], "c": time]
                ])
        }
    }
}
