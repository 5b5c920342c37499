package import BSON
package import Checking
import Mongo

/// What a step does that the server's operators cannot express: the client computes it, document by document.
///
/// The step's body says which documents the server would hand over; of these the transform tells which are changed, and
/// how. The same document has the same outcome in a dry run, in the run and in a rerun.
package protocol ClientTransform: Sendable {
    /// Why documents are left alone, as far as only the client can tell.
    var reasons: [CompiledStep.Reason] { get }

    /// The transform with what it has to know of the whole collections before the first document.
    /// - Throws: ``BackfillError`` when a collection that it reads is not there; ``MongoError``.
    func prepared(in context: ClientContext) throws -> any ClientTransform

    /// What stands against running the step at all, from the documents as they are; asked of a prepared transform,
    /// before anything is written.
    var obstacles: [ClientObstacle] { get }

    /// The collection that the step makes documents in; `nil` where it makes none.
    var creates: Namespace? { get }

    /// The transform with what a job's schemas demand of that collection.
    func judging(by schemas: [CompiledSchema]) -> any ClientTransform

    /// The outcome of each of these documents, in their order.
    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome]
}

extension ClientTransform {
    package var reasons: [CompiledStep.Reason] { [] }
    package func prepared(in context: ClientContext) throws -> any ClientTransform { self }
    package var obstacles: [ClientObstacle] { [] }
    package var creates: Namespace? { nil }
    package func judging(by schemas: [CompiledSchema]) -> any ClientTransform { self }
}

/// What a transform makes of one document.
package enum ClientOutcome: Hashable, Sendable {
    /// The target becomes this value; the documents of another collection have to be there first.
    case change(BSONValue, creating: [ClientCreation] = [])
    /// The step is about the document and cannot do it.
    case leave(CompiledStep.Reason)
    /// The step has nothing to do.
    case nothing
}

/// A document that a step makes in another collection.
package struct ClientCreation: Hashable, Sendable {
    /// The other collection.
    package var namespace: Namespace
    /// The document, with its `_id`.
    package var document: BSONDocument
}

/// What keeps a step from running: a count of documents, and how an operator accepts it.
package struct ClientObstacle: Hashable, Sendable {
    /// What is found of them.
    package var text: String
    /// How many.
    package var count: Int
    /// The collection that they are of.
    package var namespace: Namespace
    /// The `_id`s of a few.
    package var samples: [BSONValue]
    /// What to do about it.
    package var remedy: String
}

/// Where a transform works.
package struct ClientContext {
    /// The job's name, from which generated ids derive.
    let job: String
    /// The collection that the job writes; others are reached through it.
    let collection: MongoCollection
}
