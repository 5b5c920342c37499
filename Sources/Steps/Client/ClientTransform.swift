package import BSON
import Jobs
package import Mongo
package import ServerSchema

/// The client's computation of a step that the server cannot express.
///
/// The step's ``StepKind/body()`` defines which documents the server hands over. The transform decides which of these
/// are changed, and how. It computes the same outcome for the same document in a dry run, in the run and in a later
/// run.
protocol ClientTransform: Sendable {
    /// Collects the data that the transform needs from whole collections before it gets the first document.
    /// - Throws: ``RunError`` when a collection that it reads does not exist; ``MongoError``.
    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws

    /// Returns the outcome for each of the documents, in their order.
    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome]
}

extension ClientTransform {
    /// The most `_id`s that a transform keeps in memory from a whole collection, such as those of documents with
    /// several links to them.
    static var maximumRemembered: Int { 100_000 }

    /// Collects nothing.
    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {}
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
        case .convertUUID(let step): UUIDConversion(step: step)
        case .embed(let step): Embedding(step: step, shared: preparation.excluded)
        case .extract(let step):
            Extraction(step: step, contested: preparation.excluded, schemas: preparation.schemas)
        case .generate(let step): GeneratedDefault(step: step)
        case .lookupLink(let step): LinkLookup(step: step)
        }
    }
}
