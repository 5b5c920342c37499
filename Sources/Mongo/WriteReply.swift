package import BSON

package struct WriteReply: Hashable, Sendable {
    /// The number of documents that an update's filters matched, a delete removed, or an insert added; without upserts.
    package let matched: Int
    /// The number of documents that an update changed, without documents that stayed the same.
    package let modified: Int
    /// The number of documents that an update inserted.
    package let upserted: Int
    /// The statements that the server refused; empty if the caller did not ask to collect them.
    package let writeErrors: [WriteError]
    /// The term of the primary that acknowledged the write; `nil` outside a replica set, and on a sharded cluster.
    package let term: Int?
    /// The cluster time of the write: the seconds in the upper 32 bits, an ordinal in the lower 32 bits; `nil` outside
    /// a replica set.
    package let operationTime: UInt64?
}

extension WriteReply {
    /// Reads the reply of an `insert`, an `update` or a `delete`.
    init(command reply: BSONDocument) {
        let upserts = reply["upserted"]?.document?.values.count ?? 0
        matched = (reply["n"]?.integer ?? 0) - upserts
        modified = reply["nModified"]?.integer ?? 0
        upserted = upserts
        writeErrors = WriteError.all(of: reply)
        term = reply["opTime"]?.document?["t"]?.integer
        operationTime = if case .timestamp(let time)? = reply["operationTime"] { time } else { nil }
    }
}

/// One statement of a write that the server refused, with the reason.
package struct WriteError: Hashable, Sendable {
    /// The statement's index in the command.
    package let index: Int
    package let code: MongoError.Code
    /// The server's message, without quoted documents and values.
    package let message: String
    /// The index key in a duplicate key error, as a document of the index's fields; `nil` for other errors.
    ///
    /// Another document already has this key in the unique index. Unlike ``message``, the key contains values.
    package let takenKey: BSONDocument?
}

extension WriteError {
    /// A ``MongoError`` with the code and the message of this statement's error.
    package var asWhole: MongoError { MongoError(self, labels: [], host: nil) }

    /// Whether the statement's document caused the error: see ``MongoError/isOfOneDocument``.
    package var isOfOneDocument: Bool { asWhole.isOfOneDocument }

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
