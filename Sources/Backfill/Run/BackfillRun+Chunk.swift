import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The procedure for one chunk: find → judge → reserve → journal → write → checkpoint → release reservations.
extension BackfillRun {
    /// The outcome of an attempt at a chunk.
    enum Attempt {
        /// The chunk is done, except for its documents in `rest`; the number says how many documents were changed.
        case done(Int, rest: [Chunk])
        /// The chunk was not finished; its documents have to be tried again, in the given chunks.
        case again([Chunk])
        /// The run has to stop, and the chunk is not done.
        case stopped(RunStop)
    }

    /// Takes a chunk through all steps of the procedure.
    ///
    /// If the unsync budget has too little room for all documents of the chunk, only the first ones are processed.
    mutating func attempt(_ chunk: Chunk) throws -> Attempt {
        journal.begin()
        do {
            let attempt = try run(chunk)
            // An attempt that was cut off or refused may still have written documents. The journal therefore records
            // which documents every attempt changed.
            try acknowledge(job.phase(at: chunk.phase))
            // The attempt may have ended before its checkpoint, but after it wrote documents. An undo needs the journal
            // entries of these documents, so a majority must have the entries.
            try journal.confirm(kernel)
            return attempt
        } catch let failure as DocumentFailure {
            try journal.confirm(kernel)
            return try narrow(chunk, failure.error)
        } catch {
            try? acknowledge(job.phase(at: chunk.phase))
            try? journal.confirm(kernel)
            saveCount()
            throw error
        }
    }

    private mutating func run(_ chunk: Chunk) throws -> Attempt {
        var (documents, phase, rest) = try find(chunk)
        if chunk.phase == job.phases.count { documents = try refreshing.own(among: documents) }
        if !phase.isSafe {
            switch try judgeAndReserve(documents, of: phase) {
            case .stopped(let stop): return .stopped(stop)
            case .admitted(let admitted):
                let left = documents.dropFirst(admitted.count)
                if !left.isEmpty { rest.insert(Chunk(left.map(\.id), phase: chunk.phase), at: 0) }
                documents = admitted
            }
        }
        documents = try journal(documents, of: phase, at: chunk.phase)
        guard !documents.isEmpty else {
            // Nothing was written, so this chunk has no checkpoint. The next checkpoint stores the number of processed
            // documents.
            if isLast(chunk), rest.isEmpty { progress.processed += chunk.ids.count }
            return .done(0, rest: rest)
        }
        if FaultInjection.isPlanted(.acknowledgeFirst) {
            _ = try kernel.store.journal.acknowledge(progress.journaled, JournalStore.Written(), isFinal: false)
        }
        tally.begin(documents.map(\.id))
        let isFirstAttempt = tally.uncounted == 0
        switch try write(documents, of: phase, carefully: chunk.isCareful) {
        case .tooSlow: return .again(chunk.rereading(in: pacing.documents))
        case .refused(let error):
            try acknowledge(phase)
            return try narrow(chunk, error)
        case .done(let conflicts):
            FaultInjection.reached(.afterWrite)
            try acknowledge(phase)
            let modified = tally.uncountedDocuments
            guard try checkpoint(documents, of: chunk) else { return .again(chunk.rereading(in: chunk.ids.count)) }
            if chunk.phase == 0, isFirstAttempt, modified == documents.count {
                try watch?.note(written: documents.map(\.id))
            }
            account.confirm(unsyncable: documents.filter { $0.judgement == .unsyncable }.map(\.id))
            try releaseReservations(phase)
            // If a user changed a document between the read and the write, the user's change stays. The documents of
            // the chunk are then read again.
            if conflicts, let again = chunk.metAgain(documents.map(\.id)) { rest.append(again) }
            return .done(modified, rest: rest)
        }
    }

    // MARK: Find

    /// Returns the phase of the chunk, and the documents of the chunk that need this phase.
    ///
    /// Each document is read as completely as the journal and the unsync budget need it. If not all documents can be
    /// read at once, `rest` holds the remaining ones, as chunks.
    private func find(_ chunk: Chunk) throws -> ([DueDocument], Phase, rest: [Chunk]) {
        let phase = job.phase(at: chunk.phase)
        let detail = phase.detail(keepsJournal: runner.keepsJournal)
        // The operator may have recorded after the read that the next schema is deployed. The phase may then make
        // documents unsyncable, and need more of each document than was read, so the documents are read again.
        if let documents = chunk.documents, chunk.detail == detail { return (documents, phase, []) }
        let (now, later) = phase.earlierOfClient.isEmpty ? (chunk, nil) : chunk.cut(after: Self.maximumCleared)
        let (context, uuid, evidence) = (job.context(collection), checkedUUID, journal.evidence)
        let amount = ReadAmount(documents: .max, bytes: pacing.bytes)
        return try kernel.retrying {
            let phase = try cleared(phase, for: now.ids)
            var cursor = try DueCursor(
                .ids(now.ids), of: phase, detail, in: context,
                collectionUUID: uuid, evidence: evidence)
            let documents = try cursor.read(amount)
            let isCut = documents.reduce(0) { $0 + $1.size } >= amount.bytes
            let read = Set(documents.map(\.id))
            let left = isCut ? Chunk(now.ids.filter { !read.contains($0) }, phase: now.phase) : nil
            return (documents, phase, [left, later].compactMap(\.self).filter { !$0.ids.isEmpty })
        }
    }

    /// The most documents for which the client evaluates earlier client-side steps at once.
    ///
    /// The number is limited, because the server compares each document that it reads with the list of all these
    /// documents.
    private static let maximumCleared = 200

    /// Returns the phase with a condition that matches only documents which need no earlier client-side step.
    ///
    /// The server cannot evaluate a client-side step. This program therefore evaluates the steps, and the condition
    /// lists the documents that need none of them. A listed document matches until another client changes a field that
    /// the earlier steps read or write.
    private func cleared(_ phase: Phase, for ids: [BSONValue]) throws -> Phase {
        let steps = phase.earlierOfClient
        guard !steps.isEmpty else { return phase }
        let names = Set(steps.flatMap { $0.step.kind.touched + $0.step.reads }.map { $0.components[0] }).sorted()
        var evaluation = Evaluation(
            .ids(ids), through: steps, in: job.context(collection), onlyNeeding: true, where: phase.mayNeed)
        var cleared: [BSONValue: Expression] = [:]
        while let outcome = try blaming({ try evaluation.next() }) {
            guard let id = outcome.before["_id"], !outcome.isChanged else { continue }
            cleared[id] = try .all(
                [Expression(.string("$_id")) == .constant(id)] + Expression.areExactly(names, asIn: outcome.before))
        }
        return phase.clearing(cleared)
    }

    // MARK: Judge and reserve

    /// The decision of the unsync budget on a chunk.
    private enum Admission {
        /// The chunk's first documents, as many as the unsync budget has room for, with their judgements. The documents
        /// that the budget counts are reserved.
        case admitted([DueDocument])
        /// The run has to stop before the chunk.
        case stopped(RunStop)
    }

    /// Judges the documents of a chunk, and reserves as many of them as the unsync budget has room for.
    ///
    /// The headroom is the room that is left in the unsync budget. If the headroom that was read for the previous chunk
    /// suffices for all documents, it is used; otherwise it is read before the judgement. It is always read after a
    /// reservation, so that it includes what other jobs reserved at the same time.
    private mutating func judgeAndReserve(_ documents: [DueDocument], of phase: Phase) throws -> Admission {
        guard !documents.isEmpty else { return .admitted([]) }
        let budget = budget
        var hasFreed = false
        for _ in 0..<SharedLimit.maximumTries {
            let room = try room(for: documents.count, budget)
            let decision = try kernel.retrying {
                try budget.decide(documents, of: phase, room: room.documents, kernel.store)
            }
            guard !decision.documents.isEmpty else {
                guard !hasFreed else { return .stopped(.threshold(room)) }
                try freeRepaired()
                (hasFreed, account.headroom) = (true, nil)
                continue
            }
            if try reserve(decision, budget) {
                account.reserve(
                    possiblyUnsyncable: decision.documents.filter { $0.judgement == .possiblyUnsyncable }.map(\.id))
                return .admitted(decision.documents)
            }
            // Other jobs, or new entries in the ledger of unsynced documents, took the room after the headroom was
            // read, so the headroom is read again.
            account.headroom = nil
        }
        return .stopped(.threshold(try room(for: documents.count, budget)))
    }

    /// Returns the room that is left in the unsync budget.
    ///
    /// If the room that was read for the previous chunk suffices for `documents` documents, it is returned; otherwise
    /// the room is read again.
    private mutating func room(for documents: Int, _ budget: UnsyncBudget) throws -> Headroom {
        if let headroom = account.headroom, headroom.documents >= documents { return headroom }
        let now = try kernel.retrying { try budget.limit.exactHeadroom(kernel.store) }
        account.headroom = now
        return now
    }

    /// Reserves those documents of a chunk that count in the unsync budget, and then reads how much room is left in it.
    /// - Returns: whether there was room; if not, the new reservations are removed.
    private mutating func reserve(_ decision: UnsyncBudget.Decision, _ budget: UnsyncBudget) throws -> Bool {
        guard !decision.counted.isEmpty else { return true }
        let namespace = job.job.namespace
        let now = try kernel.retrying {
            try budget.limit.record(
                decision.counted, new: decision.newlyRecorded, stale: decision.stale, of: namespace, kernel.store)
        }
        account.headroom = now
        return !now.isExceeded
    }

    // MARK: Journal

    /// Writes to the journal the changes that the chunk is about to make, if the run keeps a journal.
    /// - Returns: the documents that may be written; if the run keeps a journal, the journal has all of them.
    private mutating func journal(
        _ documents: [DueDocument], of phase: Phase, at index: Int
    ) throws -> [DueDocument] {
        guard runner.keepsJournal, !documents.isEmpty else { return documents }
        let key = JournalStore.Key(
            sequence: progress.journaled, pass: progress.pass, phase: index, chunk: journal.group)
        let written = try journal.write(documents, of: phase, as: key, &kernel)
        progress.journaled = journal.attempt?.sequence ?? progress.journaled
        return written
    }

    /// Records in the journal which documents the current attempt has changed.
    private mutating func acknowledge(_ phase: Phase) throws {
        try journal.acknowledge(phase, in: collection, kernel)
    }

    // MARK: Write

    /// The outcome of the write of a chunk.
    private enum Writing {
        /// The write is done; if `conflicts` is true, some documents might not have been written, because they changed
        /// after the read.
        case done(conflicts: Bool)
        /// The write took too long, or the run was asked to stop; the chunk has to be tried again.
        case tooSlow
        /// The server refuses to write a document of the chunk.
        case refused(MongoError)
    }

    /// The fewest documents that each of several concurrent commands gets; with fewer, an additional command would cost
    /// more time than it saves.
    private static let leastSideBySide = 50

    /// Writes the documents of a chunk.
    ///
    /// If the chunk's documents will link to new documents of other collections, the function inserts the new documents
    /// first.
    /// - Parameter isCareful: whether each document has its own statement. The server then reports exactly how many
    ///   documents it wrote before one that it refuses.
    private mutating func write(
        _ documents: [DueDocument], of phase: Phase, carefully isCareful: Bool
    ) throws -> Writing {
        let writer = ChunkWriter(
            job: job.job, phase: phase, isJournaled: runner.keepsJournal, collectionUUID: checkedUUID,
            isCareful: isCareful)
        let (ready, ended) = phase.isServerSide ? (documents, nil) : try create(for: documents)
        if let ended { return ended }
        let unsyncable = ready.filter { $0.judgement == .unsyncable }.map(\.id)
        // The commands are sent one at a time if the budget judges the documents, if the client computes the values, or
        // if the server refuses commands because of its load.
        let isAlone = !phase.isServerSide || !phase.isSafe || kernel.pool.overload.isRecent
        let concurrency = isAlone ? 1 : limits.concurrency
        let commands = try ready.parts(concurrency, least: Self.leastSideBySide).map { try writer.commands($0) }
        account.begin(unsyncable: unsyncable)
        journal.plan(commands.flatMap { $0.flatMap(\.self) })
        for index in 0..<(commands.map(\.count).max() ?? 0) {
            let step = commands.compactMap { $0.indices.contains(index) ? $0[index] : nil }
            let (isFinal, pool) = (journal.durability.waitsEachTime, kernel.pool)
            let ended = try send(
                documents.count, step.flatMap(\.self), in: phase, isPerDocument: writer.isPerDocument
            ) { lease, client in
                writer.send(step, under: lease, isFinal: isFinal, on: client, and: pool)
            }
            if let ended { return ended }
        }
        return .done(conflicts: !phase.isServerSide && tally.uncounted < documents.count)
    }

    /// Inserts the documents of other collections to which the changes will link.
    /// - Returns: the documents whose linked documents all exist now; or how the write ended, if it ended early.
    private mutating func create(for documents: [DueDocument]) throws -> (ready: [DueDocument], ended: Writing?) {
        let created = documents.flatMap { $0.change?.created ?? [] }
        guard !created.isEmpty else { return (documents, nil) }
        var missing: Set<ClientCreation> = []
        for (namespace, creations) in Dictionary(grouping: Set(created), by: \.namespace) {
            for slice in creations.map({ BSONValue.object($0.document) }).commandSlices(count: 500) {
                let writer = ChildWriter(job: job.job, namespace: namespace, documents: slice.compactMap(\.document))
                let ended = try send(documents.count, in: nil) { lease, client in
                    [Result { () throws(MongoError) in try writer.send(under: lease, on: client) }]
                }
                if let ended { return ([], ended) }
                let context = job.context(collection)
                let present = try kernel.retrying { try writer.present(in: context) }
                for document in writer.documents where !present.contains(document) {
                    missing.insert(ClientCreation(namespace: namespace, document: document))
                }
            }
        }
        FaultInjection.reached(.afterCreation)
        return (documents.filter { missing.isDisjoint(with: $0.change?.created ?? []) }, nil)
    }

    /// Sends commands concurrently, and sends all of them again if one fails with a temporary error.
    ///
    /// The commands must therefore be repeatable.
    /// - Parameters:
    ///   - documents: how many documents the chunk has.
    ///   - updates: the updates that the commands consist of.
    ///   - phase: the phase whose updates are sent; `nil` for inserts into other collections. Each such insert waits
    ///     for a majority, and the server's reply to it names no election term.
    ///   - isPerDocument: whether each statement applies to one document.
    ///   - commands: sends the commands, and returns the server's replies.
    /// - Returns: `nil` when all commands are done; otherwise how the write ended.
    private mutating func send(
        _ documents: Int, _ updates: [ChunkWriter.Update] = [], in phase: Phase?, isPerDocument: Bool = true,
        _ commands: (Lease, borrowing Client) -> [Result<BSONDocument, MongoError>]
    ) throws -> Writing? {
        while !kernel.stop.isRaised {
            try kernel.keepLease()
            FaultInjection.reached(.beforeWrite)
            if phase != nil { try journal.noteStart(in: job.job.namespace, kernel) }
            journal.willSend(updates)
            var isLost = false
            do {
                let timeLimit = try kernel.retrying { () throws -> MongoError? in
                    let lease = kernel.leaseForAttempt()
                    // The server may have executed a write whose reply was lost. Before the write is sent again,
                    // `recount` finds out which documents already have their new values.
                    if isLost, let phase {
                        try journal.recount(phase, in: collection, kernel)
                        isLost = false
                    }
                    var failures: [MongoError] = []
                    for outcome in commands(lease, kernel.client) {
                        switch outcome {
                        case .success(let reply):
                            guard phase != nil else { continue }
                            tally.wrote(reply["nModified"]?.integer ?? 0)
                            journal.wrote(reply)
                        case .failure(let error):
                            if phase != nil {
                                tally.failed(error.modified)
                                if journal.failed(error, isPerDocument: isPerDocument) { isLost = true }
                            }
                            kernel.doubt(error)
                            failures.append(error)
                        }
                    }
                    // An exceeded time limit is not thrown here if the chunk has several documents, because the chunk
                    // is then tried again with fewer documents. Any other error is thrown, so that the commands can be
                    // sent again.
                    if let error = failures.first(where: { !$0.isTimeLimit || documents == 1 }) { throw error }
                    return failures.first
                }
                if let timeLimit { throw timeLimit }
            } catch let error as MongoError where error.isTimeLimit && documents > 1 {
                halve(documents)
                return .tooSlow
            } catch let error as MongoError where error.isOfOneDocument {
                return .refused(error)
            }
            if kernel.isFenceCertain { return nil }
            try kernel.renew()
            guard documents > 1 else { continue }
            halve(documents)
            return .tooSlow
        }
        return .tooSlow
    }

    /// Halves the size of the next chunk, because a chunk of `documents` documents took too long.
    private mutating func halve(_ documents: Int) {
        pacing.halve(from: documents)
        kernel.events(.halved(documents: pacing.documents))
    }

    // MARK: Checkpoint

    /// Writes the checkpoint of a chunk, and waits until a majority has everything that the chunk wrote.
    ///
    /// If there may have been an election between the chunk's writes, the writes before the election may be rolled
    /// back. The checkpoint is then undone, and the chunk is run again. If the runner dies before it has undone the
    /// checkpoint, the final count of the job finds the documents whose changes were lost.
    /// - Returns: whether it is certain that a majority has everything; if not, the chunk has to be run again.
    mutating func checkpoint(_ documents: [DueDocument], of chunk: Chunk) throws -> Bool {
        let earlier = progress
        progress.add(
            documents: isLast(chunk) ? documents.count : 0, modified: tally.uncountedDocuments, last: documents.last?.id
        )
        progress.bound = bound
        let (lease, progress) = (kernel.lease, progress)
        let reply = try kernel.waiting { kernel in
            try kernel.retrying { try kernel.store.ranges.save(progress, under: lease) }
        }
        guard let reply else {
            // Another runner has the lease, or the state was deleted; `renew` throws the error that says which.
            try kernel.renew()
            throw RunError(.leaseLost, "the lease of job \"\(job.job.name)\" changed while a chunk was written")
        }
        guard journal.durability.isConfirmed(by: reply) else {
            try journal.confirm(kernel)
            try journal.withdraw(kernel)
            self.progress = earlier
            tally.giveUp(isLow: tally.uncounted > 0)
            _ = try kernel.retrying { try kernel.store.ranges.save(earlier, under: lease) }
            kernel.events(.rerun)
            return false
        }
        journal.durability.confirmed()
        FaultInjection.reached(.afterCheckpoint)
        tally.checkpointed()
        return true
    }

    // MARK: Release reservations

    /// Releases the reservations of documents that turned out to be syncable.
    ///
    /// The caller must write the checkpoint first, because this function reads documents with read concern `majority`.
    mutating func releaseReservations(_ phase: Phase) throws {
        let possiblyUnsyncable = account.takeUnconfirmed()
        guard !possiblyUnsyncable.isEmpty else { return }
        let (budget, namespace) = (budget, job.job.namespace)
        let syncable = try kernel.retrying { try budget.syncable(among: possiblyUnsyncable, by: phase) }
        try kernel.retrying { try kernel.store.reservations.remove(syncable, of: namespace) }
    }
}
