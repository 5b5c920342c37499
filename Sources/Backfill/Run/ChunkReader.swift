import BSON
import Concurrency
import Mongo
import Synchronization

/// Reads the documents that need a phase of a job, on its own thread and client, one chunk ahead of the writes.
///
/// The reader ends at the first error. The caller then creates another reader, which finds the documents that still
/// need the phase.
final class ChunkReader: Sendable {
    private final class Desk: Sendable {
        let wanted = Mutex<ReadAmount?>(nil)
        let found = Mutex<Result<[DueDocument], any Error>?>(nil)
        /// The time at which the caller began to wait for an answer; `nil` while the caller does not wait.
        let awaited = Mutex<ContinuousClock.Instant?>(nil)
        let isAsked = Semaphore()
        let isAnswered = Semaphore()
    }

    private let desk = Desk()

    /// How long the caller waits for a full chunk; after that, it accepts a chunk of at least
    /// ``ReadAmount/leastAwaited`` documents.
    ///
    /// If only few documents need the job, the run can thus write the first ones while the reader searches for more.
    private static let answerTime = Duration.milliseconds(30)

    /// Starts the reading thread, which creates the cursor by `open`.
    init(
        on pool: ClientPool, _ open: @Sendable @escaping (borrowing Client) throws(MongoError) -> DueCursor
    ) {
        PosixThread.start(name: "find") { [desk] in
            guard var amount = Self.next(desk) else { return }
            do {
                let client = try pool.client()
                var cursor = try open(client)
                while true {
                    let documents = try cursor.read(amount) {
                        desk.awaited.withLock { $0.map { .now - $0 > Self.answerTime } } ?? false
                    }
                    Self.answer(.success(documents), desk)
                    guard !documents.isEmpty, let more = Self.next(desk) else { return }
                    amount = more
                }
            } catch {
                Self.answer(.failure(error), desk)
            }
        }
    }

    deinit {
        desk.wanted.withLock { $0 = nil }
        desk.isAsked.signal()
    }

    /// Asks the reading thread for the documents of a chunk; call it once before each ``answer(stop:whileWaiting:)``.
    func ask(for amount: ReadAmount) {
        desk.wanted.withLock { $0 = amount }
        desk.isAsked.signal()
    }

    /// Waits for the requested documents, and returns them; empty at the end of the collection.
    /// - Parameter whileWaiting: called at intervals during the wait.
    /// - Throws: the error of the read; ``StopAsked``; the error of `whileWaiting`.
    func answer(stop: StopSignal, whileWaiting: () throws -> Void) throws -> [DueDocument] {
        desk.awaited.withLock { $0 = .now }
        defer { desk.awaited.withLock { $0 = nil } }
        while !desk.isAnswered.wait(milliseconds: 200) {
            guard !stop.isRaised else { throw StopAsked() }
            try whileWaiting()
        }
        guard let found = desk.found.withLock({ $0.take() }) else { preconditionFailure("signalled once it is there") }
        return try found.get()
    }

    private static func next(_ desk: Desk) -> ReadAmount? {
        desk.isAsked.wait()
        return desk.wanted.withLock { $0 }
    }

    private static func answer(_ result: Result<[DueDocument], any Error>, _ desk: Desk) {
        desk.found.withLock { $0 = result }
        desk.isAnswered.signal()
    }
}
