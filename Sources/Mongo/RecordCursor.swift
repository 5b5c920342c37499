package import BSON

/// The documents of a collection in the order in which one member stores them, batch by batch.
///
/// The cursor's calls block the thread until the server answers. Reading in this order costs the server half as much as
/// a scan over an index. A stored document is a record, which has a number. After each batch, the server reports the
/// number of the last record (`$_requestResumeToken`), and a later scan can resume after it (`$_resumeAfter`, from
/// MongoDB 4.4 on). The numbers are valid only on that member, until its process changes; see ``MemberProcess``.
package struct RecordCursor: ~Copyable {
    private let lease: ClientLease
    private let namespace: Namespace
    /// The `find` command; `nil` once it was sent.
    private var first: BSONDocument?
    private var batchSize: BatchSize
    private let reads: MemberReads
    private var id: Int64 = 0
    private var batch = ReplyBatch()
    /// The number of the last record in the current batch; `nil` if the server reports none, as at the collection's
    /// end.
    package private(set) var position: Int64?

    init(
        _ collection: MongoCollection, _ reads: MemberReads, after place: Int64?, showsRecords: Bool, batchSize: Int,
        comment: String
    ) {
        (lease, namespace, self.reads) = (collection.lease, collection.namespace, reads)
        self.batchSize = BatchSize(most: batchSize)
        var find = BSONBuilder()
        find.append("find", .string(namespace.collection))
        find.append("hint", ["$natural": 1])
        find.append("$_requestResumeToken", true)
        if let place { find.append("$_resumeAfter", ["$recordId": .long(place)]) }
        if showsRecords { find.append("showRecordId", true) }
        find.append("batchSize", .integer(self.batchSize.documents))
        find.append("comment", .string(comment))
        first = find.finish().withTimeLimit
    }

    deinit {
        guard id != 0 else { return }
        let command: BSONDocument = ["killCursors": .string(namespace.collection), "cursors": [.long(id)]]
        _ = try? lease.run(.raw, command, on: namespace.database, options: reads.options)
    }

    /// Fetches the next batch, which may be empty.
    /// - Returns: `false` when there are no more batches; the previous batch is freed in every case.
    /// - Throws: ``MongoError``, with the code `keyNotFound` when the record to resume after no longer exists; the
    ///   cursor cannot be used after an error.
    package mutating func advance() throws(MongoError) -> Bool {
        // The current batch is freed before the next one arrives, because both together would take twice the memory.
        batch = ReplyBatch()
        let reply: ReplyBatch
        if let find = first.take() {
            reply = try lease.runForBatch(find, on: namespace.database, options: reads.startOptions)
        } else {
            guard id != 0 else { return false }
            let command: BSONDocument = [
                "getMore": .long(id), "collection": .string(namespace.collection),
                "batchSize": .integer(batchSize.documents),
            ]
            // The cursor's id is 0 until the reply arrives. If the command fails, the next call therefore does not use
            // the server's cursor again, which might have passed a batch that never arrived.
            id = 0
            reply = try lease.runForBatch(command, on: namespace.database, options: reads.options)
        }
        do throws(BSONError) {
            let (id, place) = try reply.place()
            self.id = id
            position = place
        } catch {
            throw MongoError(damaged: error, host: lease.host)
        }
        // A batch has as many documents as were asked for, unless it is the last one or the server's limit cut it.
        batchSize.adapt(to: batchSize.documents, bytes: reply.byteCount)
        batch = reply
        return true
    }

    /// Calls `body` with each document of the current batch.
    /// - Parameter body: returns `false` to stop.
    /// - Returns: `false` if `body` stopped.
    package func forEach(_ body: (borrowing BSONView) throws -> Bool) throws -> Bool { try batch.forEach(body) }
}
