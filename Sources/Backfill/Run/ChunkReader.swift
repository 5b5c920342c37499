import BSON
import Concurrency
import Mongo
import Synchronization

/// Reads the documents of a collection that need a phase, one chunk ahead of who writes them: on a thread and a client of
/// its own.
///
/// It ends with the first failure: who asked opens another one, which finds what is still to be done.
final class ChunkReader: Sendable {
    /// What the thread and who asks it share.
    private final class Desk: Sendable {
        let wanted = Mutex<ReadAmount?>(nil)
        let found = Mutex<Result<[DueDocument], any Error>?>(nil)
        /// Since when an answer is waited for; `nil` while it is not.
        let awaited = Mutex<ContinuousClock.Instant?>(nil)
        let isAsked = Semaphore()
        let isAnswered = Semaphore()
    }

    /// What is read of each document.
    let detail: DueCursor.Detail
    private let desk = Desk()

    /// How long a whole chunk is waited for; then one that is smaller does, if there is a batch: where few documents of many
    /// need the job, they are written while the others are looked for.
    private static let patience = Duration.milliseconds(50)

    /// Starts the thread; `open` makes its cursor.
    init(
        _ detail: DueCursor.Detail, on pool: ClientPool,
        _ open: @Sendable @escaping (borrowing Client) throws(MongoError) -> DueCursor
    ) {
        self.detail = detail
        PosixThread.start(name: "find") { [desk] in
            guard var amount = Self.next(desk) else { return }
            do {
                let client = try pool.client()
                var cursor = try open(client)
                while true {
                    let documents = try cursor.read(amount) {
                        desk.awaited.withLock { $0.map { .now - $0 > Self.patience } } ?? false
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

    /// Asks for the documents of a chunk; once for each answer.
    func ask(for amount: ReadAmount) {
        desk.wanted.withLock { $0 = amount }
        desk.isAsked.signal()
    }

    /// The answer, which may have been there for long; none at the end of the collection.
    /// - Parameter meanwhile: called now and then while it waits.
    /// - Throws: what the reading threw; ``StopAsked``; what `meanwhile` throws.
    func answer(stop: StopSignal, meanwhile: () throws -> Void) throws -> [DueDocument] {
        desk.awaited.withLock { $0 = .now }
        defer { desk.awaited.withLock { $0 = nil } }
        while !desk.isAnswered.wait(milliseconds: 200) {
            guard !stop.isRaised else { throw StopAsked() }
            try meanwhile()
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
