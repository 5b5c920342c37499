import BSON
import Glibc
import Mongo
import TestSupport
import Testing

/// Tests that a job that cannot run is refused with one line and the right exit code.
@Suite struct RunRefusalTests {
    private static let steps = [#"default: {field: email, value: ""}"#]
    private static let schema = """
        {"title": "Person", "bsonType": "object", "required": ["_id"],
         "properties": {"_id": {"bsonType": "int"}, "email": {"bsonType": "string"}}}
        """

    private func withPeople(
        limits: String? = nil, more: String = "", _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 200)
            try test.write("next.json", Self.schema)
            try test.job(steps: Self.steps, limits: limits, more: more)
            try await body(test)
        }
    }

    private func expectRefusal(
        _ run: ProgramRun, _ code: Int32, _ text: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(run.exitCode == code, "\(run.errors)", sourceLocation: sourceLocation)
        for text in text { #expect(run.errors.contains(text), "\(run.errors)", sourceLocation: sourceLocation) }
        let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("shipshape: ") }
        #expect(lines.count == 1, "\(run.errors)", sourceLocation: sourceLocation)
        #expect(run.output == "", sourceLocation: sourceLocation)
    }

    private func expectNothingWritten(_ test: BackfillCase) async throws {
        #expect(try await !test.hasState())
        #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
    }

    @Test func offATerminalItNeedsYes() async throws {
        try await withPeople { test in
            expectRefusal(try await test.backfill(yes: false), 64, "--yes")
            try await expectNothingWritten(test)
        }
    }

    @Test func anUnknownCollectionIsNamedWithALikelyOne() async throws {
        try await withPeople { test in
            try test.job(on: "peopl", steps: Self.steps)
            expectRefusal(
                try await test.backfill(), 65, "there is no collection \(test.database.name).peopl", "\"people\"")
            try await expectNothingWritten(test)
        }
    }

    /// If a step needs a feature that the server lacks, the run names the version that has it, and writes nothing.
    @Test func aStepThatTheServerCannotHelpWithIsRefused() async throws {
        try await withPeople { test in
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, generate: uuid}"])
            let run = try await test.backfill()
            guard try await !Mongod.build.isAtLeast(5, 0) else {
                #expect(run.exitCode == 0, "\(run.errors)")
                return
            }
            expectRefusal(run, 65, "job.yml:4:5", "MongoDB 5.0 or later", "undo could not remove")
            try await expectNothingWritten(test)
        }
    }

    @Test func aViewIsRefused() async throws {
        try await withPeople { test in
            try await test.database.run(["create": "adults", "viewOn": "people", "pipeline": []])
            try test.job(on: "adults", steps: Self.steps)
            expectRefusal(try await test.backfill(), 65, "adults is a view")
            try await expectNothingWritten(test)
        }
    }

    @Test func aStartedJobIsBoundToItsText() async throws {
        try await withPeople { test in
            #expect(try await test.backfill(fault: "after-write:1").wasKilled)
            try test.job(steps: [#"default: {field: email, value: "other"}"#])
            expectRefusal(try await test.backfill(), 65, "the job file's text changed", "new name")
            #expect(try await test.database.count("people", ["email": "other"]) == 0)
        }
    }

    @Test func aStartedJobIsBoundToItsSchemas() async throws {
        try await withPeople(more: "schema: {next: next.json}") { test in
            #expect(try await test.backfill(fault: "after-write:1").wasKilled)
            try test.write("next.json", Self.schema.replacing("Person", with: "Human"))
            expectRefusal(try await test.backfill(), 65, "a schema that the job names changed")
            try test.write("next.json", Self.schema)
            #expect(try await test.backfill().exitCode == 0)
        }
    }

    @Test func aStartedJobIsBoundToItsCollection() async throws {
        try await withPeople { test in
            #expect(try await test.backfill(fault: "after-write:1").wasKilled)
            try await test.database.run(["drop": "people"])
            try await test.database.fill("people", count: 10)
            expectRefusal(
                try await test.backfill(), 65,
                "people was moved, or dropped and created again, since the job started")
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
        }
    }

    @Test func aCollectionThatIsRecreatedDuringTheRunIsNotWritten() async throws {
        try await withPeople(limits: "{chunk: {documents: 5}, nice: 2}") { test in
            let run = try await test.backfill(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(3)
                    try await test.database.run(["drop": "people"])
                    try await test.database.fill("people", count: 200)
                }
            }
            expectRefusal(run, 65, "\(test.database.name).people was moved, or dropped and created again")
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
        }
    }

    @Test func aCollectionThatVanishesDuringTheRunIsNoSuccess() async throws {
        try await withPeople(limits: "{chunk: {documents: 5}, nice: 2}") { test in
            let run = try await test.backfill(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(3)
                    try await test.database.run(["drop": "people"])
                }
            }
            expectRefusal(run, 65, "\(test.database.name).people was dropped")
        }
    }

    @Test func anUnreachableDeploymentIsNamedInTime() async throws {
        try await withPeople { test in
            let run = try await test.backfill(
                "job", uri: "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=2000")
            expectRefusal(run, 69, "127.0.0.1:1", "refused")
            try await expectNothingWritten(test)
        }
    }

    @Test func aRefusedLoginIsNotPermitted() async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.database.fill("people", count: 10)
            try test.job(steps: Self.steps)
            let uri = "mongodb://nobody:secret-word@\(test.mongod.host)/?replicaSet=shipshape"
            let run = try await test.backfill(uri: uri)
            expectRefusal(run, 77)
            #expect(!run.errors.contains("secret-word"))
            try await expectNothingWritten(test)
        }
    }

    @Test func aUserWhoMayNotWriteIsNotPermitted() async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.database.fill("people", count: 10)
            try test.job(steps: Self.steps)
            let user = try await test.mongod.addUser(
                "reader-\(test.database.name)",
                roles: [
                    ["role": "read", "db": .string(test.database.name)],
                    ["role": "readWrite", "db": .string(test.state.name)],
                ])
            expectRefusal(try await test.backfill(uri: user), 77, "missing update on \(test.database.name).people")
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
        }
    }
}
