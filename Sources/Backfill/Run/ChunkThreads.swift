import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps
import Synchronization

/// The threads that write the chunks of a long run, and the chunks that they have finished.
///
/// The run's own thread then only hands out chunks and decides what becomes of them: a thread that had to wait until
/// the run's own thread has written a chunk itself would be idle half of the time.
struct ChunkThreads {
    /// A chunk whose transaction has ended on a thread.
    struct Finished: Sendable {
        fileprivate let thread: Int
        let work: ChunkWork
        let done: ChunkWork.Done
        let outcome: Result<FencedTransaction.Outcome<Void>, any Error>
    }

    private final class Desk: Sendable {
        let finished = Mutex<[Finished]>([])
        let isFinished = Semaphore()

        func put(_ one: Finished) {
            finished.withLock { $0.append(one) }
            isFinished.signal()
        }
    }

    private let desk = Desk()
    private var idle: [WritingThread] = []
    private var busy: [Int: WritingThread] = [:]
    private(set) var areStarted = false

    mutating func start(_ threads: [WritingThread]) {
        idle = threads
        areStarted = true
    }

    var isEmpty: Bool { idle.isEmpty && busy.isEmpty }

    /// Whether a thread is idle, and fewer than `count` are at work.
    func hasIdle(of count: Int) -> Bool { !idle.isEmpty && busy.count < count }

    /// Gives an idle thread its work.
    mutating func begin(_ work: ChunkWork) {
        let thread = idle.removeLast()
        let (number, desk) = (thread.number, desk)
        busy[number] = thread
        thread.begin { transactions in
            var done = ChunkWork.Done()
            let outcome = Result {
                try transactions.run { try work.run(in: $0, journal: $1, &done) { $0 } }
            }
            done.end()
            desk.put(Finished(thread: number, work: work, done: done, outcome: outcome))
        }
    }

    /// Whether a thread is at work.
    var areBusy: Bool { !busy.isEmpty }

    /// Returns the next chunk that a thread finishes within a time; `nil` if there is none.
    mutating func next(within milliseconds: Int = 0) -> Finished? {
        guard areBusy, desk.isFinished.wait(milliseconds: milliseconds),
            let finished = desk.finished.withLock({ $0.isEmpty ? nil : $0.removeFirst() })
        else { return nil }
        if let thread = busy.removeValue(forKey: finished.thread) {
            thread.finish()
            idle.append(thread)
        }
        return finished
    }
}

extension BackfillRun {
    /// The number of chunks after which other threads take part; a shorter run is done without them.
    private static let alone = 8

    /// Whether the threads write the chunk; starts them once the run is known to be long enough.
    ///
    /// The run's own thread writes documents that need room in the unsync budget, and those that were refused or in
    /// conflict. It writes all chunks if the run rests after each one.
    mutating func isForThreads(_ chunk: Chunk) throws -> Bool {
        guard !chunk.isOwn, chunk.phase == 0, job.phases.count == 1, job.phases[0].isSafe, limits.concurrency > 1,
            limits.nice == 0
        else { return false }
        if !threads.areStarted, chunks >= Self.alone { threads.start(try kernel.startThreads(limits.concurrency)) }
        return !threads.isEmpty
    }

    /// How long the run waits for a thread before it looks after its lease, in milliseconds.
    static let patience = 200

    /// Waits until no thread is at work, and calls `body` with each chunk that is finished then.
    mutating func waitForThreads(_ body: (inout BackfillRun, ChunkThreads.Finished) throws -> Void) throws {
        while threads.areBusy {
            if let finished = threads.next(within: Self.patience) { try body(&self, finished) }
        }
    }

    /// Notes a chunk that another thread has finished, if it was committed.
    mutating func noteCommitted(_ finished: ChunkThreads.Finished) throws {
        if case .success(.committed) = finished.outcome { try note(finished.work, finished.done) }
    }

    /// Decides what becomes of a chunk that another thread has tried.
    ///
    /// After an error that says nothing about the chunk's documents, the run's own thread tries them again.
    mutating func settle(_ finished: ChunkThreads.Finished) throws -> Attempt {
        // The thread does not know why its record is another one: the renewal does.
        if case .success(.fallenBack) = finished.outcome { try kernel.renew() }
        do { return try settle(finished.work, finished.done, finished.outcome) } catch let error as MongoError {
            guard case .failure = finished.outcome, !error.isAuthorization else { throw error }
            // The commit may have been done although its reply was lost. The thread's record shows it.
            try kernel.renew()
            try resume()
            let chunk = finished.work.chunk
            if chunk.isNext { records = nil }
            return .again(chunk.isNext ? [] : [chunk.own])
        }
    }
}
