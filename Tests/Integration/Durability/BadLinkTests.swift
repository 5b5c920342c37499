import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that a network which cuts or delays connections changes neither the result of a run nor the findings of a
/// check.
@Suite struct BadLinkTests {
    private static let documents = TestScale.pick(3_000, full: 6_000, torture: 40_000)
    private static let steps = [
        "default: {field: email, value: none}", "convert: {field: age, to: string, into: years}",
    ]
    private static let limits = "{chunk: {documents: 50}}"

    /// Runs a command again and again until it ends with exit code 0 or 1, at most 201 times, through a proxy that cuts
    /// or delays its connections.
    ///
    /// Each earlier attempt may end with an error, because the proxy cut its connection.
    ///
    /// - Returns: the last run, the number of runs, and how often the proxy accepted and cut connections.
    private func untilDone(
        _ faults: BadLink.Faults, of test: BackfillCase, _ run: (_ uri: String) async throws -> ProgramRun
    ) async throws -> (last: ProgramRun, runs: Int, tally: BadLink.Tally) {
        let link = try BadLink(before: test.mongod.host, faults)
        defer { link.close() }
        let uri = "mongodb://\(link.host)/?directConnection=true"
        var (done, runs) = (try await run(uri), 1)
        while ![0, 1].contains(done.exitCode), runs <= 200 {
            #expect([69, 75, 76].contains(done.exitCode), "\(done.status): \(done.errors)")
            done = try await run(uri)
            runs += 1
        }
        return (done, runs, link.tally)
    }

    /// Runs `backfill`, `check` and `undo` through a proxy that cuts or delays connections, and compares the results
    /// with those of a good connection.
    ///
    /// - Parameter faults: returns the faults of the proxy. The argument is the size of the collection in bytes; no
    ///   reply of the server is larger than the collection.
    /// - Returns: how often the proxy accepted and cut connections of `backfill`, of `check` and of `undo`.
    private func everythingOver(_ faults: (_ size: Int) -> BadLink.Faults) async throws -> [BadLink.Tally] {
        try await Mongod.shared.withBackfill { test in
            for name in ["people", "whole"] {
                try await test.database.fill(name, count: Self.documents) { number in
                    [
                        "_id": .integer(number), "age": .int(Int32(number % 90)),
                        "name": .string(String(repeating: "n", count: 100)),
                    ]
                }
            }
            try test.job(steps: Self.steps, limits: Self.limits)
            try test.job("whole", on: "whole", steps: Self.steps)
            let original = try await test.database.documents("people")
            #expect(try await test.backfill("whole").exitCode == 0)
            let faults = faults(original.reduce(0) { $0 + $1.view.byteCount })

            // The lease is short, because the program waits for a quarter of the lease before it repeats a write whose
            // reply was lost.
            let run = try await untilDone(faults, of: test) {
                try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=20s", uri: $0)
            }
            #expect(run.last.exitCode == 0, "\(run.last.errors)")
            let left = try await test.database.documents("people")
            #expect(left == (try await test.database.documents("whole")))
            #expect(zip(left, original).count { $0 != $1 } == Self.documents)

            try test.write("schema.json", CommandLineFolder.person)
            let check = ["check", test.folder.appending("schema.json").string, "SHIPSHAPE_LEDGER=none", "-o", "json"]
            let collection = ["--collection", "\(test.database.name).people"]
            func found(_ run: ProgramRun) throws -> [JSONValue?] {
                let total = try JSONValue(run.output)["collections"]?.elements.first
                return [total?["documents_read"], total?["failing"], total?["groups"]]
            }
            let clean = try await Program.run(check + collection + ["--uri", test.uri])
            let bad = try await untilDone(faults, of: test) {
                try await Program.run(check + collection + ["--uri", $0])
            }
            #expect(try found(bad.last) == found(clean))

            let undo = try await untilDone(faults, of: test) { uri in
                try await Program.run([
                    "undo", "job", "--yes", "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                    "SHIPSHAPE_LEASE_TTL=20s",
                ])
            }
            #expect(undo.last.exitCode == 0, "\(undo.last.errors)")
            #expect(try await test.database.documents("people") == original)
            for (command, done) in [("backfill", run), ("check", bad), ("undo", undo)] where done.tally.cuts > 0 {
                let ended = min(done.runs - 1, done.tally.cuts)
                FaultTable.note(
                    command, "a connection is cut", tries: done.tally.cuts, continued: done.tally.cuts - ended)
            }
            return [run.tally, bad.tally, undo.tally]
        }
    }

    @Test(.timeLimit(.minutes(60))) func aLinkThatIsCutLosesNothing() async throws {
        // The threads of a run share its work as their speed allows, so a run may be without a connection that carries
        // enough bytes to be cut.
        var cuts = 0
        for _ in 0..<20 where cuts == 0 {
            cuts = try await everythingOver { BadLink.Faults(cutAfter: $0...$0 * 2) }[0].cuts
        }
        #expect(cuts > 0)
    }

    @Test(.timeLimit(.minutes(60))) func aSlowLinkOfSmallPiecesLosesNothing() async throws {
        let tallies = try await everythingOver { _ in
            BadLink.Faults(delay: .milliseconds(1), pieceSize: 16_000)
        }
        #expect(tallies.allSatisfy { $0.connections > 0 && $0.cuts == 0 })
    }
}
