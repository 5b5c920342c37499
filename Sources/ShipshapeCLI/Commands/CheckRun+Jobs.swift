internal import BSON
internal import Checking
internal import Concurrency
internal import JobState
internal import Mongo
internal import Scanning
internal import ServerSchema
internal import Synchronization

/// The documents that fail under both schemas: jobs may have made them so.
final class FailingAlready: Sendable {
    /// The most that are kept.
    private static let most = 100_000

    private let state = Mutex<(ids: Set<IDKey>, isFull: Bool)>(([], false))

    /// Adds one; told by every thread of a scan.
    func add(_ id: BSONValue) {
        state.withLock { state in
            guard state.ids.count < Self.most else { return state.isFull = true }
            state.ids.insert(IDKey(id))
        }
    }

    /// Those that were kept, and whether there were more.
    var all: (ids: Set<IDKey>, isFull: Bool) { state.withLock { $0 } }
}

extension CheckRun {
    /// What jobs did to a collection.
    ///
    /// Documents that synced until a job changed them ahead of the deploy, and that do not
    /// fit the new schema either, are counted as newly failing.
    /// - Parameters:
    ///   - tally: what was counted with both schemas as they are.
    ///   - failing: the documents that fail under both.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged document.
    func trace(_ tally: inout Tally, _ failing: FailingAlready, on pool: ClientPool) async throws -> JobTrace? {
        guard active != nil else { return nil }
        let (ids, isFull) = failing.all
        let namespace = map.target(of: tally.schema.namespace)
        let counted = tally
        let texts = Set(schema.sources.map(\.text))
        let database = stateDatabase
        let (trace, changed) = try await onOwnedThread(name: "jobs") { () throws in
            var trace = JobTrace(namespace: namespace)
            var tally = counted
            do {
                let client = StoreClient(database: database, client: try pool.client())
                let history = try JobHistory(of: namespace, in: client)
                trace.unfinished = history.jobs.filter { $0.isUnfinished && $0.serves(texts) }.map {
                    JobTrace.Unfinished(job: $0.name, state: $0.state)
                }
                guard !ids.isEmpty else { return (trace, tally) }
                let synced = try Self.synced(ids, history, &tally, namespace, on: pool)
                trace.convertedCount = synced
                trace.gaps += history.jobs.filter { $0.modified > 0 && !$0.hasJournal }.map {
                    "job \"\($0.name)\" has no journal, so that what it converted may count as failing already"
                }
                if isFull {
                    trace.gaps.append(
                        "more documents fail already than are looked up: jobs may have made some of them so")
                }
            } catch let error as MongoError where error.isAuthorization {
                guard !ids.isEmpty else { return (trace, tally) }
                trace.gaps.append(
                    "the state database \"\(database)\" may not be read: what jobs converted ahead of the deploy counts as "
                        + "failing already")
            } catch let error as RunError {
                trace.gaps.append("\(error): what jobs converted may count as failing already")
            }
            return (trace, tally)
        }
        tally = changed
        return trace
    }

    /// Counts the documents anew that synced before a job changed them.
    /// - Returns: how many there are.
    private static func synced(
        _ ids: Set<IDKey>, _ history: JobHistory, _ tally: inout Tally, _ namespace: Namespace, on pool: ClientPool
    ) throws -> Int {
        guard !history.jobs.isEmpty else { return 0 }
        let changes = try history.changes(of: ids)
        let reserved = try history.reserved(ids)
        let concerned = Set(changes.keys).union(reserved)
        guard !concerned.isEmpty else { return 0 }
        let client = try pool.client()
        let reader = IDReader(
            collection: client.collection(namespace),
            options: ["readConcern": ["level": "majority"], "comment": "shipshape check jobs"])
        var count = 0
        try reader.read(concerned.map(\.value)) { view in
            let document = BSONDocument(copying: view)
            guard let id = document["_id"].map(IDKey.init), concerned.contains(id) else { return }
            // What was reserved is more than what was harmed: the journal knows better.
            let wasSynced =
                try changes[id].map { try tally.fittedBefore(document, $0) } ?? reserved.contains(id)
            if wasSynced, try tally.countAsNew(view) { count += 1 }
        }
        return count
    }
}

extension Tally {
    /// Whether a document fitted the active schema before any of the changes that jobs made to it, the oldest first.
    fileprivate func fittedBefore(_ document: BSONDocument, _ changes: [JournalGroup]) throws -> Bool {
        var earlier = document
        for change in changes.reversed() {
            earlier = try change.restored(earlier)
            if try fitsActive(earlier.view) { return true }
        }
        return false
    }
}

extension JobHistory.Job {
    /// Whether it makes documents fit a schema whose files hold these texts; one that names no schema may.
    fileprivate func serves(_ texts: Set<String>) -> Bool { next.isEmpty || !texts.isDisjoint(with: next) }
}
