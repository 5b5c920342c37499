package import BSON
import Checking
import Jobs
package import Mongo
package import ServerSchema

/// The client's computation of a step that the server cannot express.
///
/// The step's body says which documents the server hands over. The transform decides which of these are changed, and
/// how. The same document has the same outcome in a dry run, in the run and in a rerun.
protocol ClientTransform: ClientComputation {
    associatedtype Kind: ClientComputation
    /// The step that the transform computes.
    var step: Kind { get }

    /// Returns the transform with the data of whole collections that it needs before the first document.
    /// - Throws: ``RunError`` when a collection that it reads does not exist; ``MongoError``.
    func prepared(in context: ClientContext) throws -> any ClientTransform

    /// The obstacles to running the step at all, found in the documents as they are; read from a prepared transform
    /// before anything is written.
    var obstacles: [ClientObstacle] { get }

    /// Returns the transform that checks the documents that it creates in another collection against a job's schemas.
    func judging(by schemas: [CompiledSchema]) -> any ClientTransform

    /// Returns the outcome of each of these documents, in their order.
    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome]
}

extension ClientTransform {
    /// The most `_id`s of a whole collection that a transform remembers, such as those with several backlinks.
    static var mostRemembered: Int { 100_000 }

    /// The step's reasons for skipping a document.
    package var reasons: [CompiledStep.Reason] { step.reasons }
    /// Returns the transform itself, which needs no data.
    package func prepared(in context: ClientContext) throws -> any ClientTransform { self }
    /// No obstacles.
    package var obstacles: [ClientObstacle] { [] }
    /// The collection in which the step creates documents; `nil` if it creates none.
    package var creates: Namespace? { step.creates }
    func judging(by schemas: [CompiledSchema]) -> any ClientTransform { self }
}

/// The outcome of a transform for one document.
enum ClientOutcome: Hashable, Sendable {
    /// The target gets this value; the documents of another collection have to be created first.
    case change(BSONValue, creating: [ClientCreation] = [])
    /// The step applies to the document and cannot change it.
    case leave(CompiledStep.Reason)
    /// The step has nothing to do.
    case nothing
}

/// An obstacle to running a step: a number of documents, and how the operator can accept them.
struct ClientObstacle: Hashable, Sendable {
    /// The problem with the documents.
    package var text: String
    /// The number of documents.
    package var count: Int
    /// The collection of the documents.
    package var namespace: Namespace
    /// The `_id`s of a few.
    package var samples: [BSONValue]
    /// The remedy.
    package var remedy: String
}

/// The surroundings in which a transform works.
package struct ClientContext {
    /// The job's name, from which generated ids derive.
    package let job: String
    /// The collection that the job writes; others are reached through it.
    package let collection: MongoCollection
    /// For each collection that is embedded, every place that links to it by the job's schema.
    package let links: [Namespace: [(namespace: Namespace, path: SchemaPath)]]
}

extension CompiledStep {
    /// The client's computation of the step; `nil` for a step that the server runs.
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
