package import BSON

/// Documents in the order in which one member keeps its records, batch by batch; its calls block.
///
/// The server reads so for half of what a walk over an index costs it. After each batch it tells the number of the record
/// that it has come to, and can go on behind it: `$_requestResumeToken` and `$_resumeAfter`, from 4.4 on. A record keeps its
/// number as long as its document is there; the numbers are that member's own, and mean nothing to another.
package struct RecordCursor: ~Copyable {
    private let lease: ClientLease
    private let namespace: Namespace
    /// The `find`; `nil` once it was sent.
    private var first: BSONDocument?
    private let next: BSONDocument
    private let reads: MemberReads
    private var id: Int64 = 0
    private var batch = ReplyBatch()
    /// The last record of the current batch; `nil` where the server does not tell, as at the collection's end.
    package private(set) var position: Int64?

    init(
        _ collection: MongoCollection, _ reads: MemberReads, after place: Int64?, showsRecords: Bool, batchSize: Int,
        comment: String
    ) {
        (lease, namespace, self.reads) = (collection.lease, collection.namespace, reads)
        var find = BSONBuilder()
        find.append("find", .string(namespace.collection))
        find.append("hint", ["$natural": 1])
        find.append("$_requestResumeToken", true)
        if let place { find.append("$_resumeAfter", ["$recordId": .long(place)]) }
        if showsRecords { find.append("showRecordId", true) }
        find.append("batchSize", .integer(batchSize))
        find.append("comment", .string(comment))
        first = find.finish().withTimeLimit
        next = ["collection": .string(namespace.collection), "batchSize": .integer(batchSize)]
    }

    deinit {
        guard id != 0 else { return }
        let command: BSONDocument = ["killCursors": .string(namespace.collection), "cursors": [.long(id)]]
        _ = try? lease.run(.raw, command, on: namespace.database, options: reads.options)
    }

    /// Fetches the next batch, which may be empty.
    /// - Returns: `false` when there is none; then the one before is gone, too.
    /// - Throws: ``MongoError`` of code `keyNotFound` when the record to begin behind is gone; the cursor is spent.
    package mutating func advance() throws(MongoError) -> Bool {
        // Before the next one comes: the two together would be twice the memory.
        batch = ReplyBatch()
        let reply: ReplyBatch
        if let find = first.take() {
            reply = try lease.runForBatch(find, on: namespace.database, options: reads.startOptions)
        } else {
            guard id != 0 else { return false }
            let command = BSONDocument(
                [("getMore", .long(id))] + ((try? next.elements()) ?? []).map { ($0.name, $0.value) })
            // Whatever goes wrong, this cursor is not asked again.
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
        batch = reply
        return true
    }

    /// Lends the documents of the current batch.
    /// - Parameter body: gives `false` to stop.
    /// - Returns: whether all were lent.
    package func forEach(_ body: (borrowing BSONView) throws -> Bool) throws -> Bool { try batch.forEach(body) }
}

extension MongoCollection {
    /// The documents in the order in which a member keeps them.
    /// - Parameters:
    ///   - place: the number of the record behind which to begin; `nil` begins with the first.
    ///   - showsRecords: whether each document comes with its record's number, as `$recordId` behind its own fields: that
    ///     costs the server as much as the rest.
    package func records(
        _ reads: MemberReads, after place: Int64?, showsRecords: Bool = false,
        batchSize: Int, comment: String
    ) -> RecordCursor {
        RecordCursor(
            self, reads, after: place, showsRecords: showsRecords, batchSize: batchSize,
            comment: comment)
    }
}
