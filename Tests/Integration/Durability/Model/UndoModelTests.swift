import BSON
import Mongo
import Proving
import ServerSchema
import TestSupport
import Testing

/// Tests jobs that are killed, resumed, undone, killed during the undo and undone again, while clients write.
///
/// Each write of the program must be the one that a model of the steps computes, which uses neither the program's
/// evaluator nor the journal.
@Suite struct UndoModelTests {
    private static let duration = TestScale.pick(Duration.seconds(25), full: .seconds(120), torture: .seconds(1_200))

    @Test(.timeLimit(.minutes(60)), .server(from: 6, for: "change events with the documents after each change"))
    func everyDocumentIsAsTheModelSays() async throws {
        let mongod = try await Mongod.shared
        let end = ContinuousClock.now + Self.duration
        var sum = UndoModelCase.Result()
        var seed = PropertySettings.first
        try await mongod.withBackfill { test in
            let writers = UndoModelWriters(test.database)
            try await test.database.run(["create": "c", "changeStreamPreAndPostImages": ["enabled": true]])
            var random = Randomness(seed: seed)
            try await test.database.fill("c", count: UndoModelWriters.documents) {
                writers.document($0, using: &random)
            }
            repeat {
                var round = UndoModelCase(seed: seed, in: test, writers: writers)
                let result = try await round.run()
                sum.written += result.written
                sum.restored += result.restored
                sum.kills += result.kills
                sum.violations += result.violations.map { "SHIPSHAPE_SEED=\(seed): \($0)" }
                seed += 1
            } while ContinuousClock.now < end && sum.violations.isEmpty && PropertySettings.repeated == nil
        }
        print(
            "undo model: \(seed - PropertySettings.first) jobs from seed \(PropertySettings.first), "
                + "\(sum.kills) kills, \(sum.written) writes by runs, \(sum.restored) by undos")
        #expect(sum.restored > 0 && sum.kills > 0)
        #expect(sum.violations.isEmpty, "\(sum.violations.joined(separator: "\n"))")
    }
}

/// One job of the test: its runs and its undos, with the clients who write at the same time.
struct UndoModelCase {
    struct Result: Sendable {
        var kills = 0
        var written = 0
        var restored = 0
        var violations: [String] = []
    }

    private let name: String
    private let test: BackfillCase
    private let writers: UndoModelWriters
    private let job: ModelJob
    private var random: Randomness
    private var result = Result()
    private var trail: [String] = []

    init(seed: UInt64, in test: BackfillCase, writers: UndoModelWriters) {
        (name, self.test, self.writers) = ("job\(seed)", test, writers)
        random = Randomness(seed: seed)
        let chunk = random.pick([1, 7, 20, 60])
        job = ModelJob(steps: Self.steps, limits: "{chunk: {documents: \(chunk)}}", hasBudget: false)
    }

    /// A step of each kind of change: a new field, a change in place, a removal, and a copy into an object.
    private static let steps: [ModelStep] =
        {
            func path(_ text: String) -> FieldPath {
                do { return try FieldPath(text) } catch { preconditionFailure("\(error)") }
            }
            return [
                .changes(path("s"), yaml: "default: {field: s, value: 0}") { value in
                    if case nil = value { .to(0) } else { .nothing }
                },
                .changes(path("n"), yaml: "convert: {field: n, to: string}") { value in
                    switch ConversionOutcome(of: value, to: .string) {
                    case .untouched: .nothing
                    case .becomes(let text): .to(text)
                    case .reported(let reason): .skipped(reason)
                    }
                },
                .unset(path("u"), nullsAlone: false), .copy(path("a"), to: path("e.x"), replaces: true),
            ]
        }()

    mutating func run() async throws -> Result {
        try test.job(name, on: "c", steps: job.steps.map(\.yaml), limits: job.limits)
        let start = try await mark("start")
        var model = UndoModel(job, over: try await test.database.documents("c"))
        let deletions = writers.deletions
        try await kill(["backfill", test.path(name)])
        try await expect(["backfill", test.path(name)], isQuiet: true)
        try await test.mongod.waitForNoCommand(of: test.appName)
        _ = try await mark("undo")
        try await kill(["undo", name])
        try await expect(["undo", name], isQuiet: true)
        try await test.mongod.waitForNoCommand(of: test.appName)
        _ = try await mark("end")
        let namespace = test.database.namespace("c")
        model = try await test.database.pool.run { [model] client in
            var model = model
            let stage: BSONValue = ["fullDocument": "whenAvailable", "startAtOperationTime": start]
            var cursor = client.collection(namespace).aggregate([["$changeStream": stage]])
            while let event = try cursor.nextDocument() { if try model.take(event) { break } }
            return model
        }
        model.end(with: try await test.database.documents("c"))
        (result.written, result.restored) = (model.written, model.restored)
        result.violations += model.report
        if model.deletions != writers.deletions - deletions {
            result.violations.append("\(model.deletions) documents were deleted, and clients deleted another number")
        }
        result.violations = result.violations.map { "\($0)\n  \(job.limits), after: \(trail.joined(separator: "; "))" }
        return result
    }

    /// Runs a command up to three times while clients write; all runs but the last are killed at a random fault point.
    private mutating func kill(_ command: [String]) async throws {
        var faults: [String?] = []
        for _ in 0..<1 + random.below(2) {
            faults.append("any:\(random.pick([8, 40, 120].map { 1 + random.below($0) })):kill")
        }
        // The clients also write beside a run that is not killed, but not beside every last undo.
        if command[0] == "backfill" { faults.append(nil) }
        let (seed, writers) = (random.next(), writers)
        var copy = self
        try await writers.write(seed: seed) {
            for fault in faults { try await copy.expect(command, fault: fault, isQuiet: false) }
        }
        self = copy
    }

    private mutating func expect(_ command: [String], fault: String? = nil, isQuiet: Bool) async throws {
        trail.append("\(command[0]) \(fault ?? "") \(isQuiet ? "alone" : "beside clients")")
        let flags = [
            "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes", "SHIPSHAPE_LEDGER=none",
            "SHIPSHAPE_LEASE_WAIT=3m", "SHIPSHAPE_LEASE_TTL=\(fault == nil ? "20s" : "2s")",
        ]
        let run = try await Program.run(command + flags, fault: fault)
        if run.wasKilled, fault != nil {
            result.kills += 1
        } else if ![0, 1].contains(run.exitCode), isQuiet || run.exitCode != 75 {
            result.violations.append("\(command[0]) ended with \(run.status): \(run.errors)")
        }
    }

    /// Inserts and deletes a document with this `_id`, and returns the time of the insert.
    private func mark(_ part: String) async throws -> BSONValue {
        let reply = try await test.database.run(["insert": "c", "documents": [["_id": .string(part)]]])
        try await test.database.delete("c", ["_id": .string(part)])
        return try #require(reply["operationTime"])
    }
}
