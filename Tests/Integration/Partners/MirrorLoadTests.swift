import BSON
import Foundation
import TestSupport
import Testing

/// Clients write to the original and to the partner while mirrors are killed and primaries change.
///
/// The mirrors lose no change and repeat none. They never copy a change back to the collection from which it came.
@Suite(.fencedDeletes) struct MirrorLoadTests {
    private static let count = 300

    @Test func killsLoseNothingAndEchoNothing() async throws {
        try await Mongod.shared.withPartner { test in
            let rounds = TestScale.pick(6, full: 8, torture: 120)
            let model = try await Self.load(.documented, test) { model in
                for round in 0..<rounds {
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
            }
            try await expectRest(.documented, test, model)
            FaultTable.note("partner mirror", "kill -9 anywhere", tries: rounds, continued: 0)
        }
    }

    /// Tests step-downs and kills of the primary, kills of the mirror, and two mirrors at once.
    ///
    /// If libfaketime is installed, the clocks of the members are up to eight seconds apart. The test takes two
    /// minutes, or as many seconds as `SHIPSHAPE_MIRROR_SECONDS` says.
    @Test(.enabled(if: TestScale.current == .torture), arguments: [MirrorWorkload.documented, .everyStep])
    func failoversLoseNothingAndEchoNothing(_ workload: MirrorWorkload) async throws {
        let seconds = ProcessInfo.processInfo.environment["SHIPSHAPE_MIRROR_SECONDS"].flatMap { Int($0) } ?? 120
        let set = try await FailoverSet.start(offsets: FakeClock.library == nil ? [] : ["0s", "4s", "-4s"])
        try await set.mongod.withPartner { test in
            var (kills, elections) = (0, 0)
            let model = try await Self.load(workload, test) { model in
                let end = ContinuousClock.now + .seconds(seconds)
                while ContinuousClock.now < end {
                    let terms = ["SHIPSHAPE_LEASE_TTL=3s", "SHIPSHAPE_LEASE_WAIT=120s"]
                    let run = try await test.run("mirror", terms[0], terms[1], terms[2], terms[3]) { first in
                        let other = try await test.run("mirror", terms[0], terms[1], terms[2], terms[3]) { second in
                            if elections % 2 == 0 { try await set.stepDown() } else { try await set.killPrimary() }
                            elections += 1
                            try await Self.wait(for: 300, of: model, or: first)
                            let relayed = model.relayed
                            if !first.hasEnded { first.send(SIGKILL) }
                            try await waitUntil("the second mirror took over") {
                                model.relayed > relayed + 20 || second.hasEnded
                            }
                            if !second.hasEnded { second.send(SIGKILL) }
                            kills += 2
                        }
                        // The mirror's lease may have ended by the clock of a new primary. The mirror then exits
                        // with 76.
                        #expect(other.wasKilled || other.exitCode == 76, "\(other.errors)")
                    }
                    #expect(run.wasKilled || run.exitCode == 76, "\(run.errors)")
                }
            }
            print(
                "mirror soak: \(model.writes) writes, \(model.relayed) relayed, \(kills) kills, \(elections) elections")
            try await MirrorWorkload.surely { try await test.endLease() }
            try await expectRest(workload, test, model)
            FaultTable.note("partner mirror", FaultTable.lostPrimary, tries: elections, continued: elections)
            FaultTable.note("partner mirror", "kill -9 anywhere", tries: kills, continued: 0)
        }
    }

    /// Lets clients write to the original and to the partner until `during` ends.
    /// - Returns: the record of the clients' last writes.
    private static func load(
        _ workload: MirrorWorkload, _ test: PartnerCase, during: (MirrorWorkload.Model) async throws -> Void
    ) async throws -> MirrorWorkload.Model {
        let made = try await workload.begin(test, count: count)
        try #require(made.exitCode == 0, "\(made.errors)\(made.output)")
        let model = MirrorWorkload.Model()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for side in 0...1 { group.addTask { try await workload.write(side, of: count, to: test, model) } }
            for number in count + 10..<count + 14 {
                group.addTask { try await workload.relay(number, in: test, model) }
            }
            defer { model.stop() }
            try await during(model)
            model.stop()
            try await group.waitForAll()
        }
        return model
    }

    /// Waits until clients have made this many more writes, or until the program has ended.
    private static func wait(
        for writes: Int, of model: MirrorWorkload.Model, or program: LiveProgram
    ) async throws {
        let goal = model.writes + writes
        try await waitUntil("\(writes) writes, or the mirror's end") { model.writes > goal || program.hasEnded }
    }

    /// Runs the mirror, and expects that the original and the partner are then equal and that no client's write is
    /// lost.
    ///
    /// For a document that clients wrote in both collections, the function checks only that the two are equal.
    private func expectRest(
        _ workload: MirrorWorkload, _ test: PartnerCase, _ model: MirrorWorkload.Model
    ) async throws {
        let report = try await test.mirrored()
        #expect(report["refused"] == 0, "\(report)")
        let found = try await test.differences()
        #expect(found["difference_count"] == 0, "\(found)")
        let originals = try await test.database.documents("Task")
        let titles = Dictionary(uniqueKeysWithValues: originals.map { ($0["_id"] ?? .null, $0["title"]?.text) })
        for (number, expected) in model.titles where !MirrorWorkload.isShared(number) {
            #expect(titles[workload.id(number, 0)] ?? nil == expected, "document \(number)")
        }
        let rest = try await test.mirrored()
        #expect(rest["to_target"] == 0 && rest["to_source"] == 0, "\(rest)")
    }
}

/// Prints how fast a mirror is, and expects only that the original and the partner are equal at the end.
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
                    // Each of the two collections gets 100 changes ten times a second.
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
