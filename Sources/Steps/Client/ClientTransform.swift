package import BSON
import Checking
import Jobs
package import Mongo
package import ServerSchema

/// The client's computation of a step that the server cannot express.
///
/// The step's ``StepKind/body()`` defines which documents the server hands over. The transform decides which of these
/// are changed, and how. It computes the same outcome for the same document in a dry run, in the run and in a later
/// run.
protocol ClientTransform: ClientComputation {
    associatedtype Kind: ClientComputation
    /// The step that the transform computes.
    var step: Kind { get }

    /// Returns the transform with the data that it collects from whole collections before it gets the first document.
    /// - Throws: ``RunError`` when a collection that it reads does not exist; ``MongoError``.
    func prepared(in context: ClientContext) throws -> any ClientTransform

    /// The obstacles to running the step, found in the documents before the job; read it from a prepared transform
    /// before anything is written.
    var obstacles: [ClientObstacle] { get }

    /// Returns the transform with a check against these schemas of the documents that it creates in another collection.
    func judging(by schemas: [CompiledSchema]) -> any ClientTransform

    /// Returns the outcome for each of the documents, in their order.
    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome]
}

extension ClientTransform {
    /// The most `_id`s that a transform keeps in memory from a whole collection, such as those of documents with
    /// several links to them.
    static var maximumRemembered: Int { 100_000 }

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
    /// The step's target gets this value, after the `creating` documents were created in another collection.
    case change(BSONValue, creating: [ClientCreation] = [])
    /// The step applies to the document but cannot change it, for this reason.
    case leave(CompiledStep.Reason)
    /// The step has nothing to do in the document.
    case nothing
}

/// An obstacle to running a step: documents that the operator has to change or to accept first.
struct ClientObstacle: Hashable, Sendable {
    /// The problem with the documents, as a sentence.
    package var text: String
    /// The number of documents.
    package var count: Int
    /// The collection of the documents.
    package var namespace: Namespace
    /// The `_id`s of a few of the documents.
    package var samples: [BSONValue]
    /// The remedy, as a clause.
    package var remedy: String
}

/// The data that a transform needs in addition to the documents.
package struct ClientContext {
    /// The job's name, from which generated ids derive.
    package let job: String
    /// The collection that the job writes; a transform reads other collections over the same connection.
    package let collection: MongoCollection
    /// For each collection whose documents the job embeds, every field that links to it in the job's schema.
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
