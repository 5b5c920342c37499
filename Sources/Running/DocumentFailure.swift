package import Mongo

/// The failure of a read that was caused by one of the documents, for example because the server cannot evaluate it.
///
/// A failure in the state database or in the ledger is never a `DocumentFailure`, because no document causes it.
package struct DocumentFailure: Error {
    /// The error with which the read of the document failed.
    package let error: MongoError
}

/// Runs a read of documents, and throws ``DocumentFailure`` if one of the documents made it fail.
package func blaming<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as MongoError where error.isOfOneDocument {
        throw DocumentFailure(error: error)
    }
}

/// Runs a read, and replaces a thrown ``DocumentFailure`` by the error that it contains.
///
/// Callers use this function if they do not search for the document that caused the failure.
package func unblaming<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let failure as DocumentFailure { throw failure.error }
}
