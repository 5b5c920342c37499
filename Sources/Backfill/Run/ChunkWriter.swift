import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Steps

/// Writes the documents of a chunk, and no others, by `update` commands that name their `_id`s.
///
/// The filter of an update requires that the runner's lease still lasts, and that the document still needs the phase.
/// If the run keeps a journal, or the client computes the values, the filter also compares fields with the values that
/// were read.
struct ChunkWriter {
    let job: Job
    let phase: Phase
    let isJournaled: Bool
    /// The UUID of the collection for which the job was planned; `nil` if the server cannot compare it.
    ///
    /// Each write names the UUID, so that the server refuses the write if the collection was replaced.
    let collectionUUID: BSONValue?
    /// Whether each document gets its own statement, as ``Chunk/isCareful`` says.
    var isCareful = false

    /// Whether each statement applies to one document.
    var isPerDocument: Bool { isCareful || !phase.isServerSide }

    /// One statement of an `update` command.
    struct Update {
        let ids: [BSONValue]
        /// The condition that a document must meet to be written; ``statement(under:)`` also requires that the lease
        /// still lasts.
        let condition: Expression
        let pipeline: [BSONDocument]
        /// Whether strings are compared by their bytes, and not by the collection's collation.
        var isBinary = false

        func statement(under lease: Lease) -> BSONValue {
            let id: BSONValue = ids.count == 1 ? ids[0] : ["$in": .array(of: ids)]
            var builder = BSONBuilder()
            // `$eq` compares a single `_id`, because the `_id` may be an object whose fields look like operators.
            let isOne: BSONValue = ["$eq": id]
            builder.append(
                "q", ["_id": ids.count == 1 ? isOne : id, "$expr": (lease.fence && condition).bson])
            builder.append("u", .array(of: pipeline.map { .object($0) }))
            builder.append("multi", .bool(ids.count > 1))
            builder.append("hint", ["_id": 1])
            if isBinary { builder.append("collation", ["locale": "simple"]) }
            return .object(builder.finish())
        }

        /// About how many bytes the statement takes in a command.
        fileprivate var byteCount: Int {
            condition.bson.byteCount + ids.reduce(0) { $0 + $1.byteCount } + pipeline.reduce(0) { $0 + $1.bytes.count }
        }
    }

    /// The most statements and the most bytes in a command of several statements, so that no command takes long.
    private static let maximum = (updates: 500, bytes: 4 << 20)

    /// Returns the updates for these documents, grouped by command.
    /// - Throws: ``BSONError``, which only a bug can cause.
    func commands(_ documents: [DueDocument]) throws -> [[Update]] {
        try (phase.isServerSide ? serverUpdates(documents) : documents.compactMap(clientUpdate))
            .slices(count: Self.maximum.updates, bytes: Self.maximum.bytes, size: \.byteCount)
    }

    /// Sends one `update` command.
    /// - Parameter isFinal: whether the command waits for a majority; otherwise, only the primary acknowledges the
    ///   command, and the chunk's checkpoint waits for a majority.
    /// - Returns: the server's reply.
    /// - Throws: ``MongoError``; some of the updates may then be done, and all of them can be sent again.
    func send(
        _ updates: [Update], under lease: Lease, isFinal: Bool, on client: borrowing Client
    ) throws(MongoError) -> BSONDocument {
        try send(updates.map { $0.statement(under: lease) }, under: lease, isFinal: isFinal, on: client)
    }

    /// Sends commands concurrently: the first on `client`, and each of the others on a separate client of the pool.
    /// - Returns: the server's reply to each command, once all replies have arrived.
    func send(
        _ commands: [[Update]], under lease: Lease, isFinal: Bool, on client: borrowing Client, and pool: ClientPool
    ) -> [Result<BSONDocument, MongoError>] {
        pool.sideBySide(commands, first: client) { updates, client throws(MongoError) in
            try send(updates, under: lease, isFinal: isFinal, on: client)
        }
    }

    private func send(
        _ statements: [BSONValue], under lease: Lease, isFinal: Bool, on client: borrowing Client
    ) throws(MongoError) -> BSONDocument {
        let limit = lease.terms.writeLimit.milliseconds
        var command = BSONBuilder()
        command.append("update", .string(job.namespace.collection))
        command.append("updates", .array(of: statements))
        // Each statement of a client-side step applies to one document, so the order of the statements does not matter.
        if !phase.isServerSide { command.append("ordered", false) }
        command.append("maxTimeMS", .long(limit))
        command.append("writeConcern", isFinal ? ["w": "majority", "wtimeout": .long(limit)] : ["w": 1])
        command.append("comment", .string("shipshape backfill \(job.name)"))
        if let collectionUUID { command.append("collectionUUID", collectionUUID) }
        return try client.runWriteCommand(command.finish(), on: job.namespace.database)
    }
}

/// Updates whose values the server computes; documents that change in the same way share a statement.
extension ChunkWriter {
    /// The properties that the documents of one statement have in common.
    private struct Likeness: Hashable {
        /// Whether the statement leaves out the steps that can make documents unsyncable.
        var isSafe: Bool
        /// Whether the client found that no document meets ``Phase/hasArray``, so that the server need not test this
        /// condition.
        var hasNoArray: Bool
        /// The change of each field that the phase touches: 0 for no change, 1 if the field was missing before, 2 if it
        /// had another value before.
        var fields: [UInt8] = []
        /// The old values of the fields that change, if the write has to check that they are still the same.
        var before = BSONDocument()

        var withoutValues: Likeness { Likeness(isSafe: isSafe, hasNoArray: hasNoArray, fields: fields) }
    }

    /// The fewest documents with equal old values that get a statement of their own.
    ///
    /// Smaller groups are joined in one statement, in which the server looks up the old values of each document. For
    /// small groups, this takes less time than one statement for each group.
    static let fewest = 8
    /// The most documents, and the most bytes, in a statement that compares each document with its own old values.
    static let maximumCompared = (documents: 1_000, bytes: 1 << 20)

    private func serverUpdates(_ documents: [DueDocument]) throws -> [Update] {
        var groups: [Likeness: [DueDocument]] = [:]
        var order: [Likeness] = []
        let comparesOldValues = !phase.determinesOldValue
        for document in documents {
            let likeness = try likeness(of: document, comparesOldValues: comparesOldValues)
            if groups[likeness] == nil { order.append(likeness) }
            groups[likeness, default: []].append(document)
        }
        var updates: [Update] = []
        var others: [Likeness: [DueDocument]] = [:]
        for likeness in order {
            guard let alike = groups[likeness] else { continue }
            if likeness.before.isEmpty || alike.count >= Self.fewest {
                updates += try self.updates(alike, likeness)
            } else {
                others[likeness.withoutValues, default: []] += alike
            }
        }
        for likeness in order.map(\.withoutValues) {
            let maximum = Self.maximumCompared
            let compared = (others.removeValue(forKey: likeness) ?? [])
                .slices(count: maximum.documents, bytes: maximum.bytes, size: \.size)
            for part in compared { updates += try self.updates(part, likeness) }
        }
        return updates
    }

    private func updates(_ documents: [DueDocument], _ likeness: Likeness) throws -> [Update] {
        var steps = likeness.isSafe ? phase.safeSteps : phase.steps
        // A step that would change no field of these documents is left out. Otherwise, if a user changed a document
        // after the read, the step might make a change that the journal lacks. The next pass handles documents that
        // need the step.
        let changed = Set(changedFields(likeness).map(\.name))
        if !changed.isEmpty {
            steps.removeAll { changed.isDisjoint(with: $0.step.kind.touched.map(\.topLevel)) }
        }
        if likeness.hasNoArray { steps = steps.map { $0.knowing($0.altered.orArray) } }
        guard !steps.isEmpty else { return [] }
        let ids = documents.map(\.id)
        let condition = Expression.all([need(of: steps, ids)] + (try isStillSo(likeness, documents)))
        return (isCareful ? ids.map { [$0] } : ids.commandSlices()).map {
            Update(ids: $0, condition: condition, pipeline: steps.updateOfNeeding)
        }
    }

    /// Returns the condition under which a document is written: Device Sync's translator has not locked it, it needs
    /// one of the steps, and it needs no step of an earlier phase.
    private func need(of steps: [CompiledStep], _ ids: [BSONValue]) -> Expression {
        FaultInjection.isPlanted(.noNeeds)
            ? .constant(true) : .all([steps.need, SyncLock.isFree] + phase.conditions(of: ids))
    }

    private func likeness(of document: DueDocument, comparesOldValues: Bool) throws -> Likeness {
        var likeness = Likeness(isSafe: document.judgement == .safe, hasNoArray: document.hasNoArray)
        guard isJournaled, let change = document.change else { return likeness }
        let (before, after) = (change.before.view, change.after.view)
        var old = BSONBuilder()
        for name in phase.touched {
            let was = try before.find(name)
            let isChanged = try ChunkJournal.differs(was, of: before, after.find(name), of: after)
            likeness.fields.append(isChanged ? (was == nil ? 1 : 2) : 0)
            if comparesOldValues, isChanged, let was { old.append(was, of: before) }
        }
        likeness.before = old.finish()
        return likeness
    }

    /// Returns the touched fields that change, and whether each of them was there before the change.
    private func changedFields(_ likeness: Likeness) -> [(name: String, wasThere: Bool)] {
        zip(phase.touched, likeness.fields).filter { $0.1 != 0 }.map { ($0.0, $0.1 == 2) }
    }

    /// Returns the conditions under which the journal entries of the documents are still right at the time of the
    /// write.
    ///
    /// A field that the update adds must still be missing. A field that the update replaces or removes must still have
    /// exactly the value that was read; this is not tested if the new value determines the old one.
    private func isStillSo(_ likeness: Likeness, _ documents: [DueDocument]) throws -> [Expression] {
        let changed = changedFields(likeness)
        let missing = changed.filter { !$0.wasThere }.map { Expression(.string("$" + $0.name)).isMissing }
        let present = phase.determinesOldValue ? [] : changed.filter(\.wasThere).map(\.name)
        let isSame =
            likeness.before.isEmpty
            ? try present.map { try .isExactly($0, asIn: documents.compactMap(\.asRead)) }
            : try Expression.areExactly(present, asIn: likeness.before)
        return missing + isSame
    }
}

/// Updates whose values the client computes; each of them writes one document, if the fields of the document are still
/// as the client read them.
extension ChunkWriter {
    private func clientUpdate(_ document: DueDocument) throws -> Update? {
        let step = phase.steps[0]
        let target = step.step.target
        // The phase has only one step. If the document is judged `safe`, that step does not change the document, so
        // nothing is written.
        guard document.judgement != .safe, let change = document.change,
            let value = try change.after.value(at: target)
        else { return nil }
        // The fields that the step reads or writes must be as they were when the client read them.
        let sources = step.step.reads.map { $0.components[0] }.filter { !phase.touched.contains($0) }
        // Usually, the update compares strings by their bytes. If the `_id` contains a string, the server finds it only
        // with the collection's collation. The update then compares all strings by that collation.
        let isBinary = !document.id.dependsOnCollation
        let isSame = try Expression.areExactly(
            phase.touched + sources, asIn: change.before, isBinary: isBinary)
        var writes = [(path: target, value: Expression.constant(value))]
        if let marker = step.step.kind.marker { writes.append((marker, .constant(true))) }
        let isDue = [step.needs, SyncLock.isFree] + phase.conditions(of: [document.id])
        return Update(
            ids: [document.id], condition: .all(isDue + isSame),
            pipeline: [["$set": .object(Assignment(writes: writes).specification)]],
            isBinary: isBinary)
    }
}

/// The removal of the locks that Device Sync's translator left in documents.
extension ChunkWriter {
    /// Removes the locks that are still as they were read, and waits for a majority.
    /// - Returns: the number of documents from which a lock was removed.
    func unset(
        _ locks: [(id: BSONValue, lock: BSONDocument)], under lease: Lease, on client: borrowing Client
    ) throws(MongoError) -> Int {
        let statements = locks.map { id, lock -> BSONValue in
            let isSame = SyncLock.fields.map { name in
                let field = Expression(.string("$\(name)"))
                return lock[name].map { field == .constant($0) } ?? field.isMissing
            }
            return [
                "q": ["_id": ["$eq": id], "$expr": Expression.all([lease.fence] + isSame).bson],
                "u": [["$unset": .array(of: SyncLock.fields.map { .string($0) })]],
            ]
        }
        return try send(statements, under: lease, isFinal: true, on: client)["nModified"]?.integer ?? 0
    }
}

extension DueDocument {
    /// The `_id` and the fields as they were read; `nil` if they were not read.
    fileprivate var asRead: (id: BSONValue, fields: BSONDocument)? { change.map { (id, $0.before) } }
}
