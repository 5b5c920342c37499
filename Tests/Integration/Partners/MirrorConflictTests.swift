import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the lag that a mirror reports, and conflicts between inserts of the same `_id` into the original and the
/// partner.
@Suite(.fencedDeletes) struct MirrorConflictTests {
    private func original(_ number: Int) -> BSONDocument {
        ["_id": .objectID(PartnerCase.id(number)), "title": "original"]
    }
    private func partner(_ number: Int) -> BSONDocument {
        ["_id": .string("\(PartnerCase.id(number))"), "name": "partner", "note": "own"]
    }

    @Test func insertsUnderOneIDBeforeAMirrorRunsAreAConflict() async throws {
        try await PartnerCase.withCopy { test in
            try await test.database.fill("Task", [original(50)])
            try await test.database.fill("TaskV2", [partner(50), partner(51)])
            try await test.database.fill("Task", [original(51)])
            let run = try await test.run("mirror", "--once", "-o", "json")
            let report = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
            #expect(report["conflicts"] == 2 && report["refused"] == 0, "\(run.output)")
            #expect(run.errors.contains("the partner's change was later, and wins"), "\(run.errors)")
            #expect(run.errors.contains("the original's change was later, and wins"), "\(run.errors)")
            #expect(try await test.database.count("Task", ["title": "partner"]) == 1)
            let there = try await test.database.documents("TaskV2", ["_id": .string("\(PartnerCase.id(51))")]).first
            #expect(there?["name"] == "original" && there?["note"] == "own", "\(String(describing: there))")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    /// A client inserts a document into the partner after the mirror found it missing, and before the mirror inserts
    /// it.
    ///
    /// This is a conflict.
    @Test func anInsertWhileTheMirrorInsertsTheSameIsAConflict() async throws {
        try await PartnerCase.withCopy { test in
            try await test.database.fill("Task", [original(50), original(51)])
            let run = try await test.run("mirror", "--once", "-o", "json", fault: "before-write:1:stop") { program in
                try await waitUntil("the mirror is about to insert") { try program.isStopped }
                try await test.database.fill("TaskV2", [partner(50)])
                program.send(SIGCONT)
            }
            let report = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
            #expect(report["to_target"] == 1, "\(run.output)")
            let rest = try await test.run("mirror", "--once", "-o", "json")
            let left = try #require(try BSONValue(extendedJSON: rest.output).document, "\(rest.errors)")
            let conflicts = [report, left].compactMap { $0["conflicts"]?.integer }.reduce(0, +)
            #expect(conflicts == 1, "\(run.output)\(rest.output)")
            #expect((run.errors + rest.errors).contains("the partner's change was later, and wins"))
            #expect(try await test.database.count("Task", ["title": "partner"]) == 1)
            #expect(try await test.database.count("TaskV2", ["name": "original"]) == 1)
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    /// Returns the lag that the mirror's metrics show, or `nil` while there are none.
    private func lag(_ test: PartnerCase) -> Int? {
        let line = test.folder.text(of: "mirror.prom")?.split(separator: "\n").first {
            $0.hasPrefix("shipshape_mirror_lag_milliseconds{")
        }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }

    @Test func aPausedMirrorShowsItsLag() async throws {
        try await PartnerCase.withCopy { test in
            let metrics = test.folder.path.appending("mirror.prom").string
            try await test.state.fill("jobs", [["_id": "partner tasks", "control": ["paused": ["by": "a test"]]]])
            try await test.database.fill("Task", [original(60)])
            let run = try await test.run("mirror", "--once", "-o", "json", "--metrics", metrics) { _ in
                try await waitUntil("it waits") {
                    try await test.state.count("streams", ["waiting.0": ["$exists": true]]) == 1
                }
                try await waitUntil("the lag grows while it waits") { lag(test) ?? 0 > 2_000 }
                try await test.state.run([
                    "update": "jobs", "updates": [["q": [:], "u": ["$unset": ["control.paused": 1]]]],
                ])
            }
            let report = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
            #expect(report["to_target"] == 1 && report["lag_ms"] == 0, "\(run.output)")
            #expect(run.errors.contains("paused by a test"), "\(run.errors)")
            #expect(lag(test) == 0)
        }
    }

    @Test func theLagIsTheAgeOfTheOldestChangeThatWaits() async throws {
        try await PartnerCase.withCopy { test in
            let metrics = test.folder.path.appending("mirror.prom").string
            func now() async throws -> Int64 {
                guard case .date(let now)? = try await test.mongod.admin(["hello": 1])["localTime"] else { return 0 }
                return now
            }
            // The mirror handles fewer than 1,500 changes at once, so some of the changes still wait when the mirror is
            // stopped.
            try await test.database.fill("Task", count: 1_500) { original(1_000 + $0) }
            let changed = try await now()
            let run = try await test.run(
                "mirror", "--once", "-o", "json", "--metrics", metrics, fault: "before-write:1:stop,before-write:2:stop"
            ) { program in
                try await waitUntil("the mirror stands still") { try program.isStopped }
                try await waitUntil("the changes are three seconds old") { try await now() > changed + 3_000 }
                let before = lag(test)
                program.send(SIGCONT)
                var reported: Int?
                try await waitUntil("it has told its lag") {
                    reported = lag(test)
                    if reported == before { reported = nil }
                    // The mirror also stops itself before its second write. If the first write failed, for example at
                    // its time limit, the mirror repeats it in two halves. The second write is then the first of these
                    // halves, and the mirror has not reported its lag yet, so the test lets it continue.
                    if reported == nil, try program.isStopped { program.send(SIGCONT) }
                    return reported != nil || program.hasEnded
                }
                #expect(try #require(reported) >= 3_000)
                try await waitUntil("it stands still again, or has ended") {
                    try program.hasEnded || program.isStopped
                }
                program.send(SIGCONT)
            }
            let report = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
            #expect(report["lag_ms"] == 0, "\(run.output)")
            #expect(lag(test) == 0)
            #expect(report["to_target"] == 1_500, "\(run.output)")
        }
    }
}
