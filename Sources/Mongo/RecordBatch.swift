package import BSON

/// The next documents of a collection in the order in which the primary stores them, read in a transaction.
///
/// A stored document is a record, which has a number. The server reports the number of the last record that it read,
/// and a later read can resume after it. The numbers are valid only on one member, until its process changes.
package struct RecordBatch: ~Copyable {
    private let reply: ReplyBatch
    /// The number of the last record that the server read; `nil` if the server reports none, for example because the
    /// collection is clustered.
    package let position: Int64?
    /// Whether the collection has no further documents.
    package let isOver: Bool

    fileprivate init(_ reply: consuming ReplyBatch, position: Int64?, isOver: Bool) {
        self.reply = reply
        (self.position, self.isOver) = (position, isOver)
    }

    /// Calls `body` with each document of the batch.
    /// - Parameter body: returns `false` to stop.
    /// - Returns: `false` if `body` stopped.
    @discardableResult
    package func forEach(_ body: (borrowing BSONView) throws -> Bool) throws -> Bool { try reply.forEach(body) }
}

extension MongoCollection {
    /// Reads the documents of the next records, in the transaction to which this collection belongs.
    ///
    /// The rest of the server's cursor ends with the transaction.
    /// - Parameters:
    ///   - place: the number of the record after which the read begins; `nil` to begin with the first record.
    ///   - count: the most documents to return.
    /// - Throws: ``MongoError``, with the code `keyNotFound` when the record to resume after no longer exists.
    package func recordBatch(
        after place: Int64?, count: Int, comment: String, collectionUUID: BSONValue?
    ) throws(MongoError) -> RecordBatch {
        var find = BSONBuilder()
        find.append("find", .string(namespace.collection))
        find.append("hint", ["$natural": 1])
        find.append("$_requestResumeToken", true)
        if let place { find.append("$_resumeAfter", ["$recordId": .long(place)]) }
        find.append("batchSize", .integer(count))
        find.append("comment", .string(comment))
        if let collectionUUID { find.append("collectionUUID", collectionUUID) }
        let reply = try lease.runForBatch(
            find.finish(), on: namespace.database, options: scoped([:]), readPreference: .primary)
        do throws(BSONError) {
            let (id, position) = try reply.place()
            return RecordBatch(reply, position: position, isOver: id == 0)
        } catch {
            throw MongoError(damaged: error, host: lease.host)
        }
    }
}
