import BSON
import Glibc
import TestSupport
import Testing

/// The server's disk becomes full during a command: the server cannot write the journal or the checkpoint, and ends.
///
/// After the disk has room again, another run of the command has the same outcome as an undisturbed run.
@Suite(.serialized, .enabled(if: MongodOnSmallDisk.isPossible, "only root may mount a disk of little room"))
struct FullDiskTests {
    private static let subjects: [FaultSubject] = TestScale.pick(
        [], full: [.backfill(of: 60)], torture: [.backfill(of: 60), .clientBackfill, .undo(of: 60), .folder, .watch])
    private static let visits = TestScale.pick([], full: [9], torture: [1, 5, 9, 20, 40])

    @Test(.fencedDeletes, .timeLimit(.minutes(60)), arguments: subjects, visits)
    func aRunContinuesOnceThereIsRoomAgain(_ subject: FaultSubject, _ visit: Int) async throws {
        let disk = try await MongodOnSmallDisk.start()
        let expected = try await subject.undisturbed(on: disk.mongod)
        try await subject.trial(disk.mongod) { trial in
            let run = try await trial.run(
                by: "\(trial.uri)&serverSelectionTimeoutMS=2000", fault: "any:\(visit):stop", endsLeases: false
            ) {
                program in
                try await waitUntil("the program is held") { try program.isStopped }
                try disk.fill()
                program.send(SIGCONT)
                try await disk.waitForEnd()
            }
            #expect([69, 75].contains(run.exitCode), "\(run.status): \(run.errors)")
            try await disk.free()
            try await trial.endLeases()
            let next = try await trial.run()
            #expect([0, 1].contains(next.exitCode), "\(next.status): \(next.errors)")
            let end = try await trial.outcome(next)
            #expect(end == expected, "\(subject.name) at \(visit): \(difference(end, expected))")
            FaultTable.note(subject, "the server's disk is full", tries: 1, continued: 0)
        }
    }
}
