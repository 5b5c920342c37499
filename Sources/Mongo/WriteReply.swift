package import BSON

/// What a write command did.
package struct WriteReply: Hashable, Sendable {
    /// Documents that an update's filters matched, a delete removed, or an insert added; upserts are not among them.
    package let matched: Int
    /// Documents that an update changed; an update that leaves a document as it is does not count.
    package let modified: Int
    /// Documents that an update made.
    package let upserted: Int
    /// The statements that the server refused: none, unless the call was told to collect them.
    package let writeErrors: [WriteError]
    /// The election that the primary holds its office from; `nil` outside of a replica set, and on a sharded cluster.
    package let electionID: ObjectID?
    /// The term of the primary that wrote; `nil` outside of a replica set, and on a sharded cluster.
    package let term: Int?
    /// The cluster time of the write: seconds in the upper, an ordinal in the lower half; `nil` outside of a replica set.
    package let operationTime: UInt64?
}

extension WriteReply {
    /// Reads the reply of an `insert`, an `update` or a `delete`.
    init(command reply: BSONDocument) {
        let upserts = reply["upserted"]?.document?.values.count ?? 0
        self.init(
            matched: (reply["n"]?.integer ?? 0) - upserts, modified: reply["nModified"]?.integer ?? 0,
            upserted: upserts, writeErrors: WriteError.all(of: reply), reply: reply)
    }

    /// Reads what `mongoc_bulk_operation_execute` says of inserts.
    init(bulk reply: BSONDocument) {
        self.init(
            matched: reply["nInserted"]?.integer ?? 0, modified: 0, upserted: 0,
            writeErrors: WriteError.all(of: reply), reply: reply)
    }

    private init(matched: Int, modified: Int, upserted: Int, writeErrors: [WriteError], reply: BSONDocument) {
        self.matched = matched
        self.modified = modified
        self.upserted = upserted
        self.writeErrors = writeErrors
        electionID = if case .objectID(let id)? = reply["electionId"] { id } else { nil }
        term = reply["opTime"]?.document?["t"]?.integer
        operationTime = if case .timestamp(let time)? = reply["operationTime"] { time } else { nil }
    }
}

/// One statement of a write that the server refused.
package struct WriteError: Hashable, Sendable {
    /// The statement's position in what was sent.
    package let index: Int
    /// Why.
    package let code: MongoError.Code
    /// What the server said; quoted documents and values are cut.
    package let message: String
    /// The key that another document holds, by its fields, where the statement would break a unique index; else `nil`.
    ///
    /// It holds a document's values.
    package let takenKey: BSONDocument?
}

extension WriteError {
    /// The same as an error of the whole command.
    package var asWhole: MongoError { MongoError(self, labels: [], host: nil) }

    /// Whether it is the fault of the statement's document: see ``MongoError/isOfOneDocument``.
    package var isOfOneDocument: Bool { asWhole.isOfOneDocument }

    /// The `writeErrors` of a reply, in its order.
    static func all(of reply: BSONDocument) -> [WriteError] {
        (reply["writeErrors"]?.document?.values ?? []).map { value in
            let error = value.document ?? BSONDocument()
            let code = MongoError.Code(rawValue: error["code"]?.integer ?? 0)
            let text = error["errmsg"]?.text ?? "write error"
            return WriteError(
                index: error["index"]?.integer ?? 0, code: code,
                message: Redaction.writeMessage(text, code), takenKey: error["keyValue"]?.document)
        }
    }
}
