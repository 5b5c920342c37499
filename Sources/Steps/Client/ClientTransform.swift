package import BSON
import Checking
import Jobs
package import Mongo
package import ServerSchema

/// How the client computes what a step states.
///
/// The step's body says which documents the server would hand over; of these the transform tells which are changed, and
/// how. The same document has the same outcome in a dry run, in the run and in a rerun.
protocol ClientTransform: ClientComputation {
    associatedtype Kind: ClientComputation
    /// The step that states it.
    var step: Kind { get }

    /// The transform with what it has to know of the whole collections before the first document.
    /// - Throws: ``RunError`` when a collection that it reads is not there; ``MongoError``.
    func prepared(in context: ClientContext) throws -> any ClientTransform

    /// What stands against running the step at all, from the documents as they are; asked of a prepared transform,
    /// before anything is written.
    var obstacles: [ClientObstacle] { get }

    /// The transform with what a job's schemas demand of that collection.
    func judging(by schemas: [CompiledSchema]) -> any ClientTransform

    /// The outcome of each of these documents, in their order.
    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome]
}

extension ClientTransform {
    /// The most `_id`s of a whole collection that a transform keeps in mind, such as those with several backlinks.
    static var mostRemembered: Int { 100_000 }

    package var reasons: [CompiledStep.Reason] { step.reasons }
    package func prepared(in context: ClientContext) throws -> any ClientTransform { self }
    package var obstacles: [ClientObstacle] { [] }
    package var creates: Namespace? { step.creates }
    func judging(by schemas: [CompiledSchema]) -> any ClientTransform { self }
}

/// What a transform makes of one document.
enum ClientOutcome: Hashable, Sendable {
    /// The target becomes this value; the documents of another collection have to be there first.
    case change(BSONValue, creating: [ClientCreation] = [])
    /// The step is about the document and cannot do it.
    case leave(CompiledStep.Reason)
    /// The step has nothing to do.
    case nothing
}

/// What keeps a step from running: a count of documents, and how an operator accepts it.
struct ClientObstacle: Hashable, Sendable {
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
    package let job: String
    /// The collection that the job writes; others are reached through it.
    package let collection: MongoCollection
    /// Every place of the app that the job's schema knows to link to a collection that is embedded, by that collection.
    package let links: [Namespace: [(namespace: Namespace, path: SchemaPath)]]
}

extension CompiledStep {
    /// How the client computes the step; `nil` for a step that the server runs.
    var transform: (any ClientTransform)? {
        switch client {
        case nil: nil
        case let transform as any ClientTransform: transform
        case let step as ConvertUUIDStep: UUIDConversion(step: step)
        case let step as EmbedStep: Embedding(step: step)
        case let step as ExtractStep: Extraction(step: step)
        case let step as GenerateStep: GeneratedDefault(step: step)
        case let step as LookupLinkStep: LinkLookup(step: step)
        case let other?: preconditionFailure("nothing computes \(type(of: other))")
        }
    }
}
