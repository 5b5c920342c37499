import BSON
import Jobs
import TestSupport
import Testing

/// Tests steps over documents in which a field name occurs twice.
///
/// Drivers read such documents differently, and mongod 6.0 may abort when it describes an update of such a document.
@Suite struct StepsRepeatedNameTests {
    private static let padding = BSONValue.string(String(repeating: "p", count: 2_000))

    @Test func aDocumentWithARepeatedNameIsSkipped() async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await RepeatedRun(
                .default(field: path("z"), value: 1, nullsToo: true),
                over: [
                    ["_id": 1, "z": nil, "z": nil, "pad": Self.padding],
                    ["_id": 2, "a": 1, "a": 2, "pad": Self.padding],
                    ["_id": 3, "z": nil, "pad": Self.padding],
                ], in: database)
            #expect(run.reasons == [.repeatedName, .repeatedName, nil])
            #expect(run.modified == 1)
            #expect(run.after[0] == run.before[0])
            #expect(run.after[1] == run.before[1])
            #expect(run.after[2]["z"] == 1)
        }
    }

    @Test func aParentWithARepeatedNameKeepsBoth() async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await RepeatedRun(
                .default(field: path("a.city"), value: "c", nullsToo: false),
                over: [["_id": 1, "a": ["x": 1, "x": 2]], ["_id": 2, "a": ["x": 1]]], in: database)
            #expect(run.reasons == [.repeatedName, nil])
            #expect(run.after[0] == run.before[0])
            #expect(run.after[1] == ["_id": 2, "a": ["x": 1, "city": "c"]])
        }
    }

    @Test func aSourceNextToARepeatedNameIsNotRead() async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await RepeatedRun(
                .copy(from: path("o.a"), to: path("c")),
                over: [["_id": 1, "o": ["a": nil, "a": 2]], ["_id": 2, "o": ["a": 2]]], in: database)
            #expect(run.reasons == [.repeatedName, nil])
            #expect(run.after[0] == run.before[0])
            #expect(run.after[1] == ["_id": 2, "o": ["a": 2], "c": 2])
        }
    }

    @Test func anotherStepOfTheJobDoesNotTouchSuchAParentEither() async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await RepeatedRun(
                .default(field: path("a.city"), value: "c", nullsToo: false),
                .default(field: path("email"), value: "", nullsToo: false),
                over: [["_id": 1, "a": ["x": 1, "x": 2]], ["_id": 2, "a": ["x": 1]]], in: database)
            #expect(run.modified == 1)
            #expect(run.after[0] == run.before[0])
            #expect(run.after[1] == ["_id": 2, "a": ["x": 1, "city": "c"], "email": ""])
        }
    }
}

extension StepsRepeatedNameTests {
    /// If a name occurs twice inside a field that a step reads, any write to the document would alter that field,
    /// because the server keeps only one of the two values.
    ///
    /// For this reason, no step of the job may write such a document.
    @Test(arguments: [
        "drop-nulls: {field: a}", "unwrap: {field: a, from: x}", "dedupe: {field: a}", "wrap: {field: a, under: x}",
        "copy: {from: a, to: b, whenPresent: replace}", "map: {field: a, values: {1: 2}}",
        "expression: {field: b, value: {$eq: [$a, 1]}}", "split: {field: t, by: '-', into: [a, b]}",
    ])
    func objectsThatAreReadInsideAreNotWritten(_ form: String) async throws {
        for value in [["x": 1, "x": 2], [["y": ["x": 1, "x": 2]]], ["y": [["x": 1, "x": 2]]]] as [BSONValue] {
            try await Mongod.shared.withDatabase { database in
                let run = try await RepeatedRun(
                    try step(form), .default(field: path("email"), value: "", nullsToo: false),
                    over: [["_id": 1, "a": value, "t": "p-q"]], in: database)
                #expect(run.after[0].bytes == run.before[0].bytes, "\(value)")
            }
        }
    }
}

/// The results of one update that applies steps to documents, as a job's update of a chunk does.
private struct RepeatedRun {
    let before: [BSONDocument]
    let after: [BSONDocument]
    let modified: Int
    /// The reason why the first step skips each document; `nil` if it does not skip the document.
    let reasons: [CompiledStep.Reason?]

    init(_ steps: Step..., over documents: [BSONDocument], in database: TestDatabase) async throws {
        let compiled = steps.map { CompiledStep($0, among: steps) }
        try await database.run(["insert": "c", "documents": .array(of: documents.map { .object($0) })])
        before = try await database.documents("c")
        var reasons: [CompiledStep.Reason?] = Array(repeating: nil, count: documents.count)
        for (reason, condition) in compiled[0].skipped {
            for found in try await database.documents("c", condition.filter) {
                if let index = before.firstIndex(where: { $0["_id"] == found["_id"] }) { reasons[index] = reason }
            }
        }
        self.reasons = reasons
        let reply = try await database.run([
            "update": "c",
            "updates": [
                [
                    "q": ["$or": .array(of: compiled.map { .object($0.needs.filter) })],
                    "u": .array(of: compiled.map { .object($0.stage) }), "multi": true,
                ]
            ],
        ])
        modified = reply["nModified"]?.integer ?? 0
        after = try await database.documents("c")
    }
}
