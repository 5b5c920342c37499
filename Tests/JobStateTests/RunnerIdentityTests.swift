import BSON
import Foundation
import Testing

@testable import JobState

/// Tests that a runner counts as dead only if its process has certainly ended.
@Suite struct RunnerIdentityTests {
    private let own = RunnerIdentity.current()

    /// Returns the identity of this process, with `value` in place of the value of `field` if a field is given.
    private func other(_ field: String? = nil, _ value: BSONValue = nil) throws -> RunnerIdentity {
        let document = try field.map { try own.document.replacing($0, with: value) } ?? own.document
        return try #require(RunnerIdentity(document))
    }

    @Test func itIsStoredWhole() throws {
        #expect(try other() == own)
        #expect(!own.host.isEmpty)
        #expect(own.bootID.count == 36)
        #expect(own.process == Int(ProcessInfo.processInfo.processIdentifier))
        #expect(own.processStart > 0)
        #expect(RunnerIdentity.current().owner != own.owner)
        #expect(RunnerIdentity(["owner": "someone", "host": "h"]) == nil)
    }

    @Test func aProcessThatLivesIsNotDead() throws {
        #expect(!own.knowsDead(own))
        #expect(!own.knowsDead(try other("process", 1).with(start: ProcFile.startTime(of: 1))))
    }

    @Test func aProcessThatEndedIsDead() throws {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/true")
        try child.run()
        child.waitUntilExit()
        #expect(own.knowsDead(try other("process", .integer(Int(child.processIdentifier)))))
    }

    /// The files in `/proc` of another user's process may be unreadable, but its process ID still counts as in use.
    @Test func anIdThatIsInUseIsNotFree() {
        #expect(!ProcFile.isFree(1))
        #expect(!ProcFile.isFree(own.process))
        #expect(!ProcFile.isFree(.max))
    }

    /// Two containers of one machine may have the same host name, and cannot see each other's processes.
    @Test func aProcessOfAnotherContainerCannotBeSeen() throws {
        let dead = try other("process", 1).with(start: 1)
        #expect(own.knowsDead(dead))
        let elsewhere = try dead.document.replacing("processNamespace", with: "pid:[1]")
        #expect(!own.knowsDead(try #require(RunnerIdentity(elsewhere))))
        #expect(!own.knowsDead(try #require(RunnerIdentity(try elsewhere.replacing("processNamespace", with: "")))))
    }

    @Test func aLaterProcessUnderItsIdIsNotIt() throws {
        #expect(own.knowsDead(try other("processStart", .integer(own.processStart - 1))))
    }

    /// If the start time of a process is unknown, a running process with its ID may be the same process.
    ///
    /// The process therefore does not count as dead.
    @Test func anUnknownStartProvesNothing() throws {
        #expect(!own.knowsDead(try other("processStart", 0)))
    }

    @Test func anotherBootEndedEveryProcess() throws {
        #expect(own.knowsDead(try other("boot", "00000000-0000-0000-0000-000000000000")))
        #expect(!own.knowsDead(try other("boot", "")))
    }

    @Test func anotherHostCannotBeSeen() throws {
        #expect(!own.knowsDead(try other("host", "elsewhere")))
        let far = try other("host", "elsewhere").document.replacing("boot", with: "another")
        #expect(!own.knowsDead(try #require(RunnerIdentity(far))))
    }
}

extension RunnerIdentity {
    fileprivate func with(start: Int?) throws -> RunnerIdentity {
        let changed = try document.replacing("processStart", with: .integer(start ?? 0))
        return try #require(RunnerIdentity(changed))
    }
}
