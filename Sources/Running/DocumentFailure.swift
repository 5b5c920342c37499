package import Mongo

/// The error that a read of documents failed because of one document, for example because the server cannot evaluate an
/// expression for this document.
///
/// A failed read of the state database or of the ledger of unsynced documents is never a `DocumentFailure`, because
/// none of the documents to read causes it.
package struct DocumentFailure: Error {
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
