import BSON
import TestSupport
import Testing

/// Tests of steps for fields at any depth, `**.name` and `**`.
@Suite struct AnyDepthTests {
    private static let java: BSONValue = .binary(
        subtype: 3, bytes: [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8])
    private static let uuid: BSONValue = .binary(subtype: 4, bytes: [UInt8](0...15))
    private static let text = "00010203-0405-0607-0809-0a0b0c0d0e0f"

    private static let examples = [
        StepsExample(
            steps: ["unset: {field: '**.tmp'}"],
            before: [
                ["tmp": 1], ["a": ["tmp": nil, "b": 1]], ["l": [["tmp": 1], 5, ["x": [["tmp": 2, "k": 3]]]]],
                ["a": ["tmp": ["tmp": 1]]], ["a": [1, 2]], ["tmpx": 1, "a": 5], [:],
                ["m": ["p": ["tmp": 1], "q": ["tmp": 1, "z": 1]]],
            ],
            after: [
                [:], ["a": ["b": 1]], ["l": [[:], 5, ["x": [["k": 3]]]]], ["a": [:]], ["a": [1, 2]],
                ["tmpx": 1, "a": 5], [:], ["m": ["p": [:], "q": ["z": 1]]],
            ]),
        StepsExample(
            steps: ["unset: {field: '**', when: \"null\"}"],
            before: [
                ["a": nil, "o": ["p": nil, "q": 1]], ["l": [nil, ["x": nil, "y": 1]]], ["u": .undefined], ["a": 1],
            ],
            after: [["o": ["q": 1]], ["l": [nil, ["y": 1]]], [:], ["a": 1]]),
        StepsExample(
            steps: ["unset: {field: '**', when: undefined}"],
            before: [["a": .undefined, "o": ["p": .undefined, "q": nil]]], after: [["o": ["q": nil]]]),
        StepsExample(
            steps: ["drop-nulls: {field: '**'}"],
            before: [["l": [nil, 1, [nil, 2]], "o": ["a": nil, "b": ["c": nil, "d": [nil]]], "n": nil]],
            after: [["l": [1, [2]], "o": ["b": ["d": []]], "n": nil]]),
        StepsExample(
            steps: ["convert: {field: '**', from: uuid, to: uuid, legacy: java}"],
            before: [
                ["id": java, "t": .string(text), "l": [java, 1, ["k": java]]],
                ["id": "x", "b": .binary(subtype: 0, bytes: [1])],
                ["id": uuid],
            ],
            after: [
                ["id": uuid, "t": .string(text), "l": [uuid, 1, ["k": uuid]]],
                ["id": "x", "b": .binary(subtype: 0, bytes: [1])],
                ["id": uuid],
            ], reports: true),
        StepsExample(
            steps: ["convert: {field: '**', from: symbol, to: string}"],
            before: [["a": .symbol("x"), "l": [.symbol("yé"), 5]], ["a": 5, "l": "s"]],
            after: [["a": "x", "l": ["yé", 5]], ["a": 5, "l": "s"]]),
        StepsExample(
            steps: ["convert: {field: '**.at', to: date}"],
            before: [
                ["at": "2020-01-02T03:04:05Z"], ["o": ["at": "2020-01-02"], "l": [["at": "x"]]], ["o": 5, "l": ["at"]],
            ],
            after: [
                ["at": .date(milliseconds: 1_577_934_245_000)],
                ["o": ["at": .date(milliseconds: 1_577_923_200_000)], "l": [["at": "x"]]], ["o": 5, "l": ["at"]],
            ], reports: true),
        StepsExample(
            steps: ["convert: {field: n, to: int, from: string}"],
            before: [["n": "1"], ["n": 2.5], ["n": "x"], [:]], after: [["n": 1], ["n": 2.5], ["n": "x"], [:]],
            reports: true),
        // An object that holds only empty ones goes, too; a condition reads what is changed last.
        StepsExample(
            steps: ["unset: {field: '**', when: empty}"],
            before: [["a": ["b": [:], "c": []], "l": [[:], ["x": [:]]]], ["a": 1]],
            after: [["l": [[:], [:]]], ["a": 1]]),
        StepsExample(
            steps: ["convert: {field: '**.a', from: int, to: string}\n    where: {a: 5}"],
            before: [["a": 5, "l": [["a": 6]]], ["a": 7, "l": [["a": 6]]]],
            after: [["a": "5", "l": [["a": "6"]]], ["a": 7, "l": [["a": 6]]]]),
        // A step finds what the documents have; one that finds nothing changes nothing.
        StepsExample(
            steps: [
                "unset: {field: '**.none'}", "unset: {field: '**.a'}", "unset: {field: '**.b'}",
                "default: {field: c, value: 1}",
            ],
            before: [["x": ["a": ["b": 1], "b": 2]]], after: [["x": [:], "c": 1]]),
    ]

    @Test(arguments: examples) func aStepReachesEachFieldThatTheDocumentsHave(_ example: StepsExample) async throws {
        try await example.check()
    }

    /// The names of a dictionary's values are no fields of their own: the step is for all of its values.
    @Test func aDictionaryOfManyNamesIsOneField() async throws {
        let names = (0..<300).map { "k\($0)" }
        func document(_ inner: BSONDocument) -> BSONDocument {
            ["d": .object(BSONDocument(names.map { ($0, .object(inner)) }))]
        }
        let values = BSONDocument(names.map { ($0, 5) })
        try await StepsExample(
            steps: ["convert: {field: '**', from: int, to: string}"], before: [["d": .object(values)]],
            after: [["d": .object(BSONDocument(names.map { ($0, "5") }))]]
        ).check()
        try await StepsExample(
            steps: ["unset: {field: '**.tmp'}"], before: [document(["tmp": 1, "x": 2])], after: [document(["x": 2])]
        ).check()
    }

    @Test func whatNoPathReachesIsCounted() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 0, "a.b": ["tmp": 1], "$c": [["tmp": 1]], "tmp": 1]])
            try test.job(steps: ["unset: {field: '**.tmp'}"])
            let dry = try await test.backfill("job", "--dry-run")
            #expect(
                dry.output.contains("unset **.tmp: 2 fields are below a name that is empty, has a dot"), "\(dry.output)"
            )
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.database.documents("people") == [["_id": 0, "a.b": ["tmp": 1], "$c": [["tmp": 1]]]])
        }
    }

    @Test func aLaterRunFindsTheFieldsThatArrivedSince() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 0, "a": ["tmp": 1]]])
            try test.job(steps: ["unset: {field: '**.tmp'}"])
            #expect(try await test.backfill().exitCode == 0)
            try await test.database.fill("people", [["_id": 1, "b": [["tmp": 2]]]])
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.database.documents("people") == [["_id": 0, "a": [:]], ["_id": 1, "b": [[:]]]])
            let undo = try await Program.run([
                "undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(undo.exitCode == 0, "\(undo.output)\(undo.errors)")
            #expect(
                try await test.database.documents("people")
                    == [["_id": 0, "a": ["tmp": 1]], ["_id": 1, "b": [["tmp": 2]]]])
        }
    }
}
