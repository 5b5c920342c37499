import BSON
import Foundation
import Synchronization
import TestSupport
import Testing

/// A mirror under load from writers on both sides, with kills: nothing is lost, doubled or echoed.
@Suite struct MirrorLoadTests {
    /// What clients wrote last to each document, on a side that no other client writes to.
    private final class Model: Sendable {
        private let state = Mutex<(titles: [Int: String], stopped: Bool, writes: Int)>(([:], false, 0))
        var titles: [Int: String] { state.withLock { $0.titles } }
        var writes: Int { state.withLock { $0.writes } }
        var isStopped: Bool { state.withLock { $0.stopped } }
        func stop() { state.withLock { $0.stopped = true } }
        func wrote(_ number: Int, _ title: String?) {
            state.withLock { state in
                state.titles[number] = title
                state.writes += 1
            }
        }
    }

    private static let count = 300

    /// Writes to the original's even documents, and to the partner's odd ones; both write a few that are shared.
    private static func write(_ side: Int, to test: PartnerCase, _ model: Model) async throws {
        var round = 0
        while !model.isStopped {
            round += 1
            var updates: [BSONValue] = []
            var written: [(Int, String?)] = []
            for _ in 0..<8 {
                let number = Int.random(in: 0..<count / 2) * 2 + side
                let text = "\(side)-\(round)-\(Int.random(in: 0..<1_000_000))"
                let isShared = number % 50 < 2
                let gone = !isShared && Int.random(in: 0..<10) == 0
                let id: BSONValue =
                    side == 0 ? .objectID(PartnerCase.id(number)) : .string("\(PartnerCase.id(number))")
                let field = side == 0 ? "title" : "name"
                if gone {
                    try await surely { try await test.database.delete(side == 0 ? "Task" : "TaskV2", ["_id": id]) }
                    written.removeAll { $0.0 == number }
                    updates.removeAll { $0.document?["q"]?.document?["_id"] == id }
                    model.wrote(number, nil)
                } else {
                    updates.append(["q": ["_id": id], "u": ["$set": [field: .string(text)]], "upsert": true])
                    written.removeAll { $0.0 == number }
                    written.append((number, text))
                }
                if isShared {
                    // The other side's client writes to it too, at the same time.
                    let other: BSONValue =
                        side == 1 ? .objectID(PartnerCase.id(number)) : .string("\(PartnerCase.id(number))")
                    try await surely {
                        try await test.database.update(
                            side == 1 ? "Task" : "TaskV2", ["_id": other],
                            ["$set": [side == 1 ? "title" : "name": .string("shared \(text)")]])
                    }
                }
            }
            try await surely { [updates] in
                try await test.database.run([
                    "update": side == 0 ? "Task" : "TaskV2", "updates": .array(of: updates),
                ])
            }
            for (number, text) in written { model.wrote(number, text) }
        }
    }

    @Test func killsLoseNothingAndEchoNothing() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(Self.count)
            try #require(try await test.run("init").exitCode == 0)
            let model = Model()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for side in 0...1 { group.addTask { try await Self.write(side, to: test, model) } }
                for round in 0..<TestScale.pick(6, full: 8, torture: 120) {
                    let points = ["before-write", "after-write", "after-state-write", "before-state-write"]
                    let fault = round % 3 == 2 ? nil : "\(points[round % 4]):\(Int.random(in: 3...25)):kill"
                    let before = model.writes
                    let run = try await test.run("mirror", fault: fault) { program in
                        try await waitUntil("the writers go on, or the mirror is dead") {
                            program.hasEnded || fault == nil && model.writes > before + 400
                        }
                        if !program.hasEnded { program.send(SIGKILL) }
                    }
                    #expect(run.wasKilled, "round \(round): \(run.errors)")
                    try await test.endLease()
                }
                model.stop()
                try await group.waitForAll()
            }
            try await expectRest(test, model)
        }
    }

    @Test(.enabled(if: TestScale.current == .torture)) func failoversLoseNothingAndEchoNothing() async throws {
        let set = try await FailoverSet.start()
        try await set.mongod.withPartner { test in
            try test.job()
            try await test.load(Self.count)
            try #require(try await test.run("init").exitCode == 0)
            let model = Model()
            let end = ContinuousClock.now + .seconds(120)
            var (kills, elections) = (0, 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for side in 0...1 { group.addTask { try await Self.write(side, to: test, model) } }
                while ContinuousClock.now < end {
                    let run = try await test.run("mirror") { program in
                        for _ in 0..<2 {
                            try await Self.wait(for: 300, of: model, or: program)
                            if elections % 2 == 0 { try await set.stepDown() } else { try await set.killPrimary() }
                            elections += 1
                        }
                        try await Self.wait(for: 300, of: model, or: program)
                        if !program.hasEnded { program.send(SIGKILL) }
                        kills += 1
                    }
                    #expect(run.wasKilled, "\(run.errors)")
                    try await Self.surely { try await test.endLease() }
                }
                model.stop()
                try await group.waitForAll()
            }
            print(
                "mirror: \(model.writes) writes, \(elections) step-downs and kills of the primary, \(kills) of the mirror"
            )
            try await expectRest(test, model)
        }
    }

    /// Waits until clients have made so many more writes.
    private static func wait(for writes: Int, of model: Model, or program: LiveProgram) async throws {
        let goal = model.writes + writes
        try await waitUntil("\(writes) writes, or the mirror's end") { model.writes > goal || program.hasEnded }
    }

    /// Repeats a client's write until it is done: elections refuse it, or lose the answer.
    private static func surely(_ write: () async throws -> Void) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            do { return try await write() } catch {
                if ContinuousClock.now > end { throw error }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Both sides are equal once all is carried over, and documents that one client alone wrote are as it left them.
    private func expectRest(_ test: PartnerCase, _ model: Model) async throws {
        let run = try await test.run("mirror", "--once", "-o", "json")
        #expect(run.exitCode == 0, "\(run.errors)")
        let report = try #require(try BSONValue(extendedJSON: run.output).document)
        #expect(report["echoes_written"] == 0 && report["refused"] == 0, "\(run.output)")
        let found = try await test.differences()
        #expect(found["difference_count"] == 0, "\(found)")
        let originals = try await test.database.documents("Task")
        let titles = Dictionary(uniqueKeysWithValues: originals.map { ($0["_id"] ?? .null, $0["title"]?.text) })
        for number in 0..<Self.count where number % 50 >= 2 {
            guard let expected = model.titles[number] else { continue }
            #expect(titles[.objectID(PartnerCase.id(number))] == expected, "document \(number)")
        }
        let rest = try await test.run("mirror", "--once", "-o", "json")
        let still = try #require(try BSONValue(extendedJSON: rest.output).document)
        #expect(still["to_target"] == 0 && still["to_source"] == 0, "\(rest.output)")
    }
}

/// How fast a mirror is: numbers to look at, and a promise only that it comes to rest with both sides equal.
@Suite(.enabled(if: TestScale.current == .torture)) struct MirrorSpeedTests {
    @Test func theMirrorKeepsUpWithTwoThousandChangesASecond() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(20_000)
            try #require(try await test.run("init").exitCode == 0)
            let run = try await test.run("mirror", "-o", "json") { program in
                let start = ContinuousClock.now
                var sent = 0
                while start.duration(to: .now) < .seconds(60) {
                    // 100 changes to each side, twenty times in two seconds.
                    for side in 0...1 {
                        let updates = (0..<100).map { _ -> BSONValue in
                            let number = Int.random(in: 0..<10_000) * 2 + side
                            let id: BSONValue =
                                side == 0 ? .objectID(PartnerCase.id(number)) : .string("\(PartnerCase.id(number))")
                            let text = BSONValue.string("\(UInt64.random(in: 0 ... .max))")
                            return ["q": ["_id": id], "u": ["$set": [side == 0 ? "title" : "name": text]]]
                        }
                        try await test.database.run([
                            "update": side == 0 ? "Task" : "TaskV2", "updates": .array(of: updates),
                        ])
                        sent += 100
                    }
                    let due = start + .milliseconds(sent / 2)
                    if due > .now { try await Task.sleep(until: due, clock: .continuous) }
                }
                print("mirror: \(sent) changes sent in \(start.duration(to: .now))")
                program.send(SIGTERM)
            }
            print("mirror: \(run.output)")
            let rest = try await test.run("mirror", "--once", "-o", "json")
            print("mirror: left behind: \(rest.output)")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }
}
