import BSON
import Files
import JobState
import Jobs
import LocatedYAML
import Mongo
import Running
import Scanning
import ServerSchema
import SystemPackage
import Testing

@testable import ShipshapeCLI

/// The program's type `ExitStatus`, named together with its module, because Testing has a type of the same name.
private typealias Status = ShipshapeCLI.ExitStatus

/// Tests that every error has its exit code.
///
/// An unexpected error counts as a bug. It never ends the program with 1, which means findings.
@Suite struct CommandLineExitStatusTests {
    private struct Unknown: Error {}

    @Test func anUnknownErrorIsABug() {
        #expect(Status(for: Unknown()) == .bug)
        #expect(Status(for: Errno.ioError) == .bug)
        #expect(Status(for: MongoError(.server, .badValue, message: "")) == .bug)
    }

    @Test func theCodesAreThoseOfTheManual() {
        #expect(
            [
                Status.findings, .usage, .badInput, .unavailable, .bug, .cannotWrite, .stopped, .held,
                .notPermitted, .badConfiguration,
            ].map(\.rawValue) == [1, 64, 65, 69, 70, 73, 75, 76, 77, 78])
    }

    @Test func inputOfTheOperators() {
        let place = SourceLocation(whole: "x")
        #expect(Status(for: SchemaError(.syntax, at: place, "")) == .badInput)
        #expect(Status(for: JobError("")) == .badInput)
        #expect(Status(for: InputError("")) == .badInput)
        #expect(Status(for: UsageError("")) == .usage)
        #expect(Status(for: OutputError(description: "")) == .cannotWrite)
        #expect(Status(for: Status.stopped) == .stopped)
    }

    @Test func errorsOfTheDeployment() {
        func status(_ domain: MongoError.Domain, _ code: MongoError.Code) -> Status {
            Status(for: MongoError(domain, code, message: ""))
        }
        #expect(status(.serverSelection, .serverSelection) == .unavailable)
        #expect(status(.stream, .socket) == .unavailable)
        #expect(status(.server, .notWritablePrimary) == .unavailable)
        #expect(status(.server, .cursorNotFound) == .unavailable)
        #expect(status(.server, .maxTimeMSExpired) == .unavailable)
        #expect(status(.writeConcern, .writeConcernFailed) == .unavailable)
        #expect(status(.server, .unauthorized) == .notPermitted)
        #expect(status(.client, .loginFailed) == .notPermitted)
        #expect(status(.command, .invalidArgument) == .badConfiguration)
        #expect(Status(for: LedgerUnreadable(Namespace(database: "b", collection: "c"))) == .notPermitted)
    }

    @Test(arguments: [
        (RunError.Kind.bindingChanged, Status.badInput), (.unknownCollection, .badInput),
        (.unsupportedCollection, .badInput), (.checkpointUnreadable, .badInput), (.notIdempotent, .badInput),
        (.schemaMismatch, .badInput), (.leaseHeld, .held), (.leaseLost, .held), (.exceedsHeadroom, .findings),
        (.lookupUnreadable, .notPermitted),
    ])
    fileprivate func errorsOfABackfill(_ kind: RunError.Kind, _ status: Status) {
        #expect(Status(for: RunError(kind, "")) == status)
    }
}

/// Tests the line and the bar that show the progress of a command.
@Suite struct CommandLineProgressTests {
    @Test func theLineSaysHowMuchHowFastAndHowLong() {
        let state = ProgressState(done: 50_000, total: 200_000, elapsed: 10)
        #expect(state.line("documents") == "50,000 of about 200,000 documents, 5,000/s, about 30 s left")
    }

    @Test func withoutATotalThereIsNoEnd() {
        let state = ProgressState(done: 50_000, total: nil, elapsed: 10)
        #expect(state.line("documents") == "50,000 documents, 5,000/s")
        #expect(state.bar("documents").hasSuffix(" \(state.line("documents"))"))
    }

    /// A phase that counts nothing shows its seconds.
    @Test func aPhaseShowsItsTime() {
        #expect(ProgressState(done: 0, total: nil, elapsed: 12.4).bar(ProgressState.time).hasSuffix(" 12 s"))
    }

    @Test(arguments: [
        (200, 10.0, "about 40 s left"), (10, 10, "about 16 min left"), (10, 1_000, "about 27 h left"),
        (999, 10, "about 1 s left"),
    ])
    func theTimeLeftHasAUnit(_ done: Int, _ elapsed: Double, _ text: String) {
        let line = ProgressState(done: done, total: 1_000, elapsed: elapsed).line("documents")
        #expect(line.hasSuffix(text), "\(line)")
    }

    @Test func theFirstDocumentsSayNothingOfTheEnd() {
        for (done, elapsed) in [(99, 10.0), (5_000, 1.9)] {
            let line = ProgressState(done: done, total: 10_000, elapsed: elapsed).line("documents")
            #expect(line == "\(done.grouped) of about 10,000 documents, \(Int(Double(done) / elapsed).grouped)/s")
        }
        #expect(ProgressState(done: 0, total: 10, elapsed: 0).line("documents") == "0 of about 10 documents, 0/s")
    }

    /// The pace and the time left of a resumed run are computed from this run alone.
    ///
    /// The shown count and the shown total include the documents of earlier runs. This holds even if the given total
    /// covers only the documents that earlier runs left to do.
    @Test func aResumedRunIsMeasuredByItsOwnPace() {
        let state = ProgressState(done: 100, earlier: 5_000, total: 10_000, elapsed: 10)
        #expect(state.line("documents") == "5,100 of about 10,000 documents, 10/s, about 8 min left")
        for (total, isOfTheRest) in [(5_000, true), (10_000, false)] {
            let progress = ProgressLine("job", total: total, isTotalOfTheRest: isOfTheRest, isShown: false)
            RunEvent.resumed(chunks: 50, documents: 5_000).show(on: progress, quiet: true)
            RunEvent.chunk(documents: 100, modified: 100).show(on: progress, quiet: true)
            #expect(progress.state.line("documents").hasPrefix("5,100 of about 10,000 documents, "))
        }
    }

    /// The bar keeps its width while its text grows.
    @Test func theBarFills() {
        let half = ProgressState(done: 500, total: 1_000, elapsed: 1)
        #expect(half.bar("documents").hasPrefix("█████░░░░░ 50% 500 of about 1,000"))
        let more = ProgressState(done: 1_100, total: 1_000, elapsed: 1)
        #expect(more.bar("documents").hasPrefix("██████████ 100% 1,100"))
    }
}
