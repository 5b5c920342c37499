import BSON
import Glibc
import TestSupport
import Testing

/// Tests conversions from and to a UUID, which the client computes.
@Suite struct ClientConvertTests {
    private static let bytes: [UInt8] = [
        0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
    ]
    private static let text = "00112233-4455-6677-8899-aabbccddeeff"
    private static let uuid = BSONValue.binary(subtype: 4, bytes: bytes)

    /// Runs a conversion over one document for each value, and returns the values of the field after the run.
    private func run(
        _ step: String, over values: [BSONValue?], changed: Int, exitCode: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [BSONValue?] {
        try await Mongod.shared.withBackfill { test in
            let documents = values.enumerated().map { index, value in
                BSONDocument([("_id", .integer(index))] + (value.map { [("v", $0)] } ?? []) + [("z", 1)])
            }
            try await test.database.fill("people", documents)
            try test.job(steps: ["convert: \(step)"])
            let report = try await test.runThreeTimes(exitCode: exitCode, sourceLocation: sourceLocation)
            #expect(report["changed"]?.integer == changed, sourceLocation: sourceLocation)
            return try await test.database.documents("people").map { $0["v"] }
        }
    }

    @Test func aTextBecomesAUUIDWhereItIsTheCanonicalOne() async throws {
        let others: [BSONValue?] = [
            nil, .null, Self.uuid, .string(Self.text.uppercased()), .string("{\(Self.text)}"), "", "x", 5, [], [:],
            .string(Self.text + "0"), .binary(subtype: 3, bytes: Self.bytes), .binary(subtype: 4, bytes: [1]),
            .binary(subtype: 0, bytes: [1]),
        ]
        let after = try await run(
            "{field: v, to: uuid}", over: [.string(Self.text)] + others, changed: 1, exitCode: 1)
        #expect(after == [Self.uuid] + others)
    }

    /// The server changes a document of 9 MB in one step, and the client converts a field of it in the next step.
    ///
    /// The original document and the changed one do not fit together into one reply of the server.
    @Test func aLargeDocumentIsConvertedAfterAStepOfTheServer() async throws {
        try await Mongod.shared.withBackfill { test in
            let large = BSONValue.string(String(repeating: "x", count: 9_000_000))
            try await test.database.fill("people", count: 10) {
                BSONDocument([("_id", .integer($0)), ("u", .string(Self.text))] + ($0 == 4 ? [("l", large)] : []))
            }
            try test.job(steps: ["default: {field: x, value: 1}", "convert: {field: u, to: uuid}"])
            let report = try await test.runThreeTimes()
            #expect(report["changed"]?.integer == 10)
            #expect(report["updates"]?.integer == 20)
            let after = try await test.database.documents("people")
            #expect(after.map { $0["u"] } == Array(repeating: Self.uuid, count: 10))
            #expect(after.map { $0["x"] } == Array(repeating: 1, count: 10))
            #expect(after[4]["l"] == large)
        }
    }

    @Test(arguments: [
        text.uppercased(), "{\(text)}", "{\(text.uppercased())}", "urn:uuid:\(text)",
        text.split(separator: "-").joined(),
    ])
    func anotherSpellingIsLostWhereTheJobAllowsIt(_ text: String) async throws {
        #expect(
            try await run("{field: v, to: uuid, onLoss: allow}", over: [.string(text)], changed: 1) == [Self.uuid])
    }

    @Test(
        arguments: [
            ("java", [0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88]),
            (
                "csharp",
                [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF]
            ),
            ("python", bytes),
        ] as [(String, [UInt8])])
    func aLegacyUUIDIsReadInTheOrderThatTheJobStates(_ driver: String, _ stored: [UInt8]) async throws {
        let old: [BSONValue?] = [.binary(subtype: 3, bytes: stored), Self.uuid, .string(Self.text)]
        #expect(
            try await run("{field: v, to: uuid, legacy: \(driver)}", over: old, changed: 2)
                == [Self.uuid, Self.uuid, Self.uuid])
        #expect(
            try await run("{field: v, from: uuid, to: string, legacy: \(driver)}", over: old, changed: 2)
                == [.string(Self.text), .string(Self.text), .string(Self.text)])
    }

    @Test func aUUIDBecomesTheCanonicalText() async throws {
        let others: [BSONValue?] = [nil, "text", 5, .binary(subtype: 3, bytes: Self.bytes)]
        #expect(
            try await run("{field: v, from: uuid, to: string}", over: [Self.uuid] + others, changed: 1, exitCode: 1)
                == [.string(Self.text)] + others)
    }

    @Test func eachValueThatIsSkippedHasItsReason() async throws {
        try await Mongod.shared.withBackfill { test in
            let values: [BSONValue] = [
                .string(Self.text.uppercased()), .string("{\(Self.text)}"), .binary(subtype: 3, bytes: Self.bytes), "x",
                5, .binary(subtype: 3, bytes: [1]), .binary(subtype: 4, bytes: [1]),
            ]
            try await test.database.fill("people", values.enumerated().map { ["_id": .integer($0), "v": $1] })
            try test.job(steps: ["convert: {field: v, to: uuid}"])
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report.skipped("rounded") == 2)
            #expect(report.skipped("more than one reading possible") == 1)
            #expect(report.skipped("not a number, date or id") == 4)
            let shown = try await test.backfill(flags: ["--dry-run"], yes: false)
            #expect(shown.output.contains("more than one reading possible: 1, such as _id 2"), "\(shown.output)")
            #expect(shown.output.contains(#""onLoss: allow" writes the nearest value"#), "\(shown.output)")
            #expect(shown.output.contains(#""legacy: java", "csharp" or "python""#), "\(shown.output)")
        }
    }

    @Test func aSecondFieldTakesTheValueAndNoOtherIsOverwritten() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people",
                [
                    ["_id": 1, "v": .string(Self.text)], ["_id": 2, "v": .string(Self.text), "w": Self.uuid],
                    ["_id": 3, "v": .string(Self.text), "w": "other"], ["_id": 4, "v": "no uuid"], ["_id": 5],
                ])
            try test.job(steps: ["convert: {field: v, to: uuid, into: w}"])
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report.skipped("target holds another value") == 1)
            #expect(report.skipped("not a number, date or id") == 1)
            let after = try await test.database.documents("people")
            #expect(after.map { $0["w"] } == [Self.uuid, Self.uuid, "other", nil, nil])
        }
    }

    /// A step that the server computes uses the result of a step that the client computes, and the other way round.
    @Test func stepsOfBothSidesWorkTogether() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 1_200) { number in
                ["_id": .integer(number), "old": number % 3 == 0 ? .string(Self.text) : 5, "o": ["k": 1]]
            }
            try test.job(
                steps: [
                    "default: {field: o.tag, value: t}", "convert: {field: old, to: uuid, into: o.new}",
                    "copy: {from: o.new, to: last}", "default: {field: o.id, generate: objectId}",
                ], limits: "{chunk: {documents: 100}}")
            let report = try await test.runThreeTimes(exitCode: 1)
            // The report counts each of the 1,200 documents once, but counts all 3,200 updates: 1,200 tags, 400
            // conversions, 400 copies and 1,200 ids.
            #expect(report["changed"]?.integer == 1_200)
            #expect(report["updates"]?.integer == 3_200)
            #expect(try await test.database.count("people", ["last": Self.uuid, "o.new": Self.uuid]) == 400)
            #expect(
                try await test.database.count("people", ["old": 5, "last": ["$exists": false], "o.tag": "t"]) == 800)
            #expect(try await test.database.count("people", ["o.id": ["$type": "objectId"], "o.k": 1]) == 1_200)
        }
    }

    @Test func aValueThatAUserChangesDuringTheRunIsConvertedAsChanged() async throws {
        let other = "ffffffff-ffff-ffff-ffff-ffffffffffff"
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10) { ["_id": .integer($0), "v": .string(Self.text)] }
            try test.job(steps: ["convert: {field: v, to: uuid}"])
            let run = try await test.backfill(fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await test.database.run([
                    "update": "people",
                    "updates": [
                        ["q": ["_id": 1], "u": ["$set": ["v": .string(other)]]],
                        ["q": ["_id": 2], "u": ["$set": ["v": "the user's"]]],
                    ],
                ])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 1, "\(run.errors)")
            let after = try await test.database.documents("people").map { $0["v"] }
            #expect(after[1] == .binary(subtype: 4, bytes: Array(repeating: 0xFF, count: 16)))
            #expect(after[2] == "the user's")
            #expect(after.count { $0 == Self.uuid } == 8)
        }
    }
}
