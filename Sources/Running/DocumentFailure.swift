package import Mongo

/// A read of documents that failed because of one of them.
///
/// A failure in the state database or in the ledger is never reported as one, because no document causes it.
package struct DocumentFailure: Error {
    /// The error of the read.
    package let error: MongoError
}

/// Runs a read of documents, and throws ``DocumentFailure`` if one of the documents made it fail.
package func blaming<R>(_ look: () throws -> R) throws -> R {
    do { return try look() } catch let error as MongoError where error.isOfOneDocument {
        throw DocumentFailure(error: error)
    }
}

/// Runs a read, and throws the error inside a ``DocumentFailure``: for callers that do not search for the document.
package func unblaming<R>(_ look: () throws -> R) throws -> R {
    do { return try look() } catch let failure as DocumentFailure { throw failure.error }
}
