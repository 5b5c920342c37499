package import BSON
import Mongo

/// A document that was set aside: it alone cannot be written, and the others were.
package struct Failure: Hashable, Sendable {
    /// The document's `_id`.
    package let id: BSONValue
    /// The server's code; 0 for a document that the sync translator holds locked.
    package let code: Int
    /// The code in words, without any value.
    package let name: String
    /// The phase of the job that could not be written, from 0.
    package let phase: Int

    /// The words for a locked document.
    package static let locked = "locked by the sync translator"

    init(id: BSONValue, code: Int, name: String, phase: Int) {
        self.id = id
        self.code = code
        self.name = name
        self.phase = phase
    }

    init(_ id: BSONValue, _ error: MongoError, phase: Int) {
        self.init(id: id, code: error.code.rawValue, name: Self.name(of: error), phase: phase)
    }

    /// A document that stayed locked.
    static func locked(_ id: BSONValue, phase: Int) -> Failure {
        Failure(id: id, code: 0, name: locked, phase: phase)
    }

    /// In words of our own: what the server says of one document holds its values.
    private static func name(of error: MongoError) -> String {
        switch error.code.rawValue {
        case 121: "refused by the collection's validator"
        case 11_000: "would be twice in a unique index"
        case 241: "a value cannot be converted"
        case 10_334, 17_419, 17_420: "too large for MongoDB"
        case 15: "nested too deeply for MongoDB"
        default: error.codeName ?? "refused by the server"
        }
    }
}

/// A look at documents that ended at one of them.
///
/// What fails in the state database or in the ledger is none of these: no document is to blame for it.
struct DocumentFailure: Error {
    let error: MongoError
}

/// Looks at documents, so that a failure of one of them is told from any other.
func blaming<R>(_ look: () throws -> R) throws -> R {
    do { return try look() } catch let error as MongoError where error.isOfOneDocument {
        throw DocumentFailure(error: error)
    }
}

/// The same failures as what they are, for who looks for no document.
func unblaming<R>(_ look: () throws -> R) throws -> R {
    do { return try look() } catch let failure as DocumentFailure { throw failure.error }
}

extension MongoError {
    /// Whether the server may still be at the operation, or get it only now.
    ///
    /// An error that the server itself replied ended it; a router's may be about a server behind it.
    var mayBeUnderWay: Bool {
        isTransient && !isServerSelection && (domain != .server || Self.ofNetwork.contains(code))
    }

    private static let ofNetwork: Set<Code> = [.hostUnreachable, .hostNotFound, .networkTimeout, .socketException]

    /// Whether a write, or the look at what it would do, failed for one of its documents: it ended there, and goes on
    /// without that document.
    ///
    /// What says that the collection, the command or the runner is not as it should be ends the job instead.
    var isOfOneDocument: Bool {
        guard domain == .server, !isTransient, !isTimeLimit, !isAuthorization, !isCursorLost else { return false }
        return !Self.ofTheWhole.contains(code)
    }

    private static let ofTheWhole: Set<Code> = [
        .failedToParse, .namespaceNotFound, .indexNotFound, .commandNotFound, .writeConcernFailed, .invalidOptions,
        .collectionUUIDMismatch, .interrupted, .illegalOperation, .noReplicationEnabled, .unknownStage,
        .unknownOption, .apiStrictError, .commandNotSupportedOnView,
    ]
}
