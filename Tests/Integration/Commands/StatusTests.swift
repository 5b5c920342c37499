import BSON
import TestSupport
import Testing

/// Tests the state of a job as `shipshape status` shows it.
@Suite struct StatusTests {
    private static let step = #"default: {field: email, value: ""}"#
    private static let slow = "{chunk: {documents: 10}, nice: 4}"

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 400)
            try test.job(steps: [Self.step], limits: Self.slow)
            try await body(test)
        }
    }

    @Test func aJobThatWasNotBegunIsKnownByItsFileAlone() async throws {
        try await withPeople { test in
            let byFile = try await test.steer("status", test.path())
            #expect(byFile.exitCode == 0)
            #expect(byFile.output == "job job on \(test.database.name).people: not started\n")
            let byName = try await test.steer("status", "job")
            #expect(byName.exitCode == 65)
            #expect(byName.errors.contains("no job \"job\" was started in the state database \"\(test.state.name)\""))
            let all = try await test.steer("status")
            #expect(all.output == "No job was started.\n")
        }
    }

    @Test func aRunningJobShowsItsHolderAndItsShare() async throws {
        try await withPeople { test in
            let run = try await test.begunSlowly { program in
                let status = try await test.status()
                #expect(status["state"] == "running")
                #expect(status["documents_estimated"] == 400)
                let passed = try #require(status["documents_passed"]?.integer)
                // On a busy machine, the two chunks are smaller than what the limit allows.
                #expect((2..<400).contains(passed))
                #expect(status["permille"]?.integer == passed * 1_000 / 400)
                let holder = try #require(status["holder"]?.document)
                #expect(holder["process"]?.integer == Int(program.process))
                #expect(holder["since"]?.text?.hasSuffix("Z") == true)
                let text = try await test.steer("status", "job").output
                #expect(text.contains("held by process \(program.process) on host "))
                let table = try await test.steer("status").output
                #expect(table.contains("running"))
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let done = try await test.status()
            #expect(done["state"] == "done")
            #expect(done["changed"] == 400)
            #expect(done["holder"] == .null)
            #expect(done["permille"] == 1_000)
        }
    }

    @Test func aJobWhoseRunnerDiedIsStalledOnceItsLeaseIsOver() async throws {
        try await withPeople { test in
            #expect(try await test.backfill(fault: "after-checkpoint:2").wasKilled)
            #expect(try await test.status()["state"] == "stalled")
            let shown = try await test.steer("status", "job")
            #expect(shown.exitCode == 1)
            #expect(shown.output.contains(": stalled, no sign of its runner for "))
            // The next run resumes the job, which is then done.
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.status()["state"] == "done")
        }
    }

    @Test func aRunnerThatRenewsItsLeaseAndGetsNowhereIsStalledToo() async throws {
        try await withPeople { test in
            _ = try await test.begunSlowly { _ in
                let longLimit = try await test.status(of: "job", "SHIPSHAPE_STALLED_AFTER=1h")
                #expect(longLimit["state"] == "running")
                // With `stalled-after: 0s`, a job is stalled once the server's clock has advanced since the last
                // chunk, as it has here.
                let shortLimit = try await test.status(of: "job", "SHIPSHAPE_STALLED_AFTER=0s")
                #expect(shortLimit["state"] == "stalled")
            }
        }
    }

    @Test func aJobThatWasAskedToStopIsStoppedAndNotStalled() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            let status = try await test.status()
            #expect(status["state"] == "stopped")
            #expect(status["holder"] == .null)
        }
    }

    @Test func watchingAsJSONEndsInAResultOnceTheJobIsDone() async throws {
        try await withPeople { test in
            #expect(try await test.backfill().exitCode == 0)
            let watched = try await test.steer("status", "job", "--watch", "--output", "json")
            #expect(watched.exitCode == 0)
            let records = try watched.output.split(separator: "\n").map { try BSONDocument(extendedJSON: String($0)) }
            #expect(records.map { $0["record"]?.text } == ["status", "result"])
        }
    }
}
