import BSON
import Foundation
import TestSupport
import Testing

/// Tests that `partner mirror` and `ledger follow` lose and repeat no change if the primary steps down or is killed.
@Suite(.fencedDeletes) struct FollowingFailoverTests {
    /// Tries a write until the replica set has a primary that accepts it.
    private func persistently(_ what: String, _ write: () async throws -> Void) async throws {
        try await waitUntil(what) { (try? await write()) != nil }
    }

    @Test func aMirrorLosesAndDoublesNothingWhenThePrimaryGoes() async throws {
        let set = try await ThreeNodes.start(electsAny: true)
        try await set.primary.withPartner { test in
            try test.job()
            try await test.load(40)
            try #require(try await test.run("init").exitCode == 0)
            var changes = 0
            /// Changes a document of the original collection and another document of the partner collection, and waits
            /// until each change has been carried over to the other collection.
            func change(_ text: String, _ program: LiveProgram) async throws {
                let (original, partner) = (PartnerCase.id(changes + 1), PartnerCase.id(changes + 2))
                try await persistently("the original is changed") {
                    try await test.database.update(
                        "Task", ["_id": .objectID(original)], ["$set": ["title": .string(text)]])
                }
                try await persistently("the partner is changed") {
                    try await test.database.update(
                        "TaskV2", ["_id": .string("\(partner)")], ["$set": ["name": .string(text)]])
                }
                try await waitUntil("both changes are carried over") {
                    if program.hasEnded { return true }
                    let there = try? await test.database.count("TaskV2", ["name": .string(text)])
                    let back = try? await test.database.count("Task", ["title": .string(text)])
                    return there == 2 && back == 2
                }
                changes += 2
            }
            let run = try await test.run("mirror", "-o", "json") { program in
                try await change("before", program)
                try await set.failOver(killing: false)
                try await change("after the step-down", program)
                try await set.failOver(killing: true)
                try await change("after the kill", program)
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            #expect(report["to_target"] == 3 && report["to_source"] == 3, "\(run.output)")
            #expect(report["conflicts"] == 0 && report["refused"] == 0)
            let rest = try await test.run("mirror", "--once", "-o", "json")
            let left = try #require(try BSONValue(extendedJSON: rest.output).document, "\(rest.errors)")
            #expect(left["to_target"] == 0 && left["to_source"] == 0, "\(rest.output)")
            #expect(try await test.differences()["difference_count"] == 0)
            #expect(try await test.database.count("Task") == 40)
            FaultTable.note("partner mirror", FaultTable.lostPrimary, tries: 2, continued: 2)
        }
    }

    @Test func aWatchLosesAndDoublesNothingWhenThePrimaryGoes() async throws {
        let set = try await ThreeNodes.start(electsAny: true)
        try await set.primary.withWatch { test in
            try await test.database.fill("person", [["_id": 1], ["_id": 2, "name": "Ada"]])
            let run = try await test.watching { _ in
                try await test.waitUntilRecorded([IDKey(1)])
                try await set.failOver(killing: false)
                try await persistently("a document breaks") {
                    try await test.database.update("person", ["_id": 2], ["$unset": ["name": 1]])
                }
                try await waitUntil("it is recorded") { (try? await test.recorded()) == [IDKey(1), IDKey(2)] }
                try await set.failOver(killing: true)
                try await persistently("a document is mended") {
                    try await test.database.update("person", ["_id": 1], ["$set": ["name": "Eve"]])
                }
                try await waitUntil("its entry leaves") { (try? await test.recorded()) == [IDKey(2)] }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.once().exitCode == 1)
            #expect(try await test.entries().count == 1)
            #expect(try await test.recorded() == test.failing())
            FaultTable.note("ledger follow", FaultTable.lostPrimary, tries: 2, continued: 2)
        }
    }
}
