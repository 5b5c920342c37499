package import Mongo

/// A look at documents that ended at one of them.
///
/// What fails in the state database or in the ledger is none of these: no document is to blame for it.
package struct DocumentFailure: Error {
    package let error: MongoError
}

/// Looks at documents, so that a failure of one of them is told from any other.
package func blaming<R>(_ look: () throws -> R) throws -> R {
    do { return try look() } catch let error as MongoError where error.isOfOneDocument {
        throw DocumentFailure(error: error)
    }
}

/// The same failures as what they are, for who looks for no document.
package func unblaming<R>(_ look: () throws -> R) throws -> R {
    do { return try look() } catch let failure as DocumentFailure { throw failure.error }
}
