package import BSON

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
