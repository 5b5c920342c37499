package import BSON
import Jobs
package import Mongo
package import ServerSchema

/// The client's computation of a step that the server cannot compute.
///
/// The step's ``StepKind/body()`` defines which documents the client gets. The transform decides which of these
/// documents are changed, and how. The outcome depends only on the document and on the collections that the transform
/// reads, so a dry run, the run and a later run agree.
protocol ClientTransform: Sendable {
    /// Reads whole collections, to collect the data that the transform needs before it gets the first document.
    /// - Throws: ``RunError`` when a collection that the transform reads is missing or cannot be used; ``MongoError``.
    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws

    /// Whether the outcome depends on the document's `_id`; an element of a list then gets one, too.
    var readsID: Bool { get }

    /// Returns the outcome for each of the documents, in their order.
    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome]
}

extension ClientTransform {
    /// The most `_id`s that a transform collects from a whole collection and keeps in memory.
    ///
    /// These are, for example, the `_id`s of documents to which several links lead.
    static var maximumRemembered: Int { 100_000 }

    var readsID: Bool { false }

    /// Collects nothing; for transforms that need no data before the first document.
    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {}
}

enum ClientOutcome: Hashable, Sendable {
    /// The document as the step changes it. The documents of `creating` are inserted in another collection before it is
    /// written.
    case change(to: BSONDocument, creating: [ClientCreation] = [])
    /// The step applies to the document but cannot change it, for this reason.
    case leave(CompiledStep.Reason)
    /// The step has nothing to do in the document.
    case nothing

    /// Returns the outcome that sets fields of a document, or of the object with an element in the field `v`.
    static func change(
        _ document: BSONDocument, _ fields: [(path: FieldPath, value: BSONValue)], creating: [ClientCreation] = []
    ) throws(BSONError) -> ClientOutcome {
        var changed = document
        for (path, value) in fields { changed = try changed.setting(value, at: path.local.components) }
        return .change(to: changed, creating: creating)
    }
}

/// The data that a transform needs besides the documents.
package struct ClientContext {
    /// The job's name, from which generated ids are derived.
    package let job: String
    /// The collection that the job writes; a transform reads other collections over the same connection.
    package let collection: MongoCollection
    /// The collections whose documents the job embeds, each with the fields that link to it.
    ///
    /// The fields are those that the job's schema declares as links, in any collection.
    package let links: [Namespace: [(namespace: Namespace, path: SchemaPath)]]
}

extension CompiledStep {
    /// The client's computation of the step; `nil` if the server runs the step.
    var transform: (any ClientTransform)? {
        let containers = step.target.containers
        return ownTransform.map { containers.isEmpty ? $0 : ElementTransform(inner: $0, containers: containers) }
    }

    private var ownTransform: (any ClientTransform)? {
        switch client {
        case nil: nil
        case .convertUUID(let step): UUIDConversion(step: step)
        case .dedupe(let step): Deduplication(step: step)
        case .embed(let step): Embedding(step: step, shared: preparation.excluded)
        case .extract(let step):
            Extraction(step: step, contested: preparation.excluded, schemas: preparation.schemas)
        case .generate(let step): GeneratedDefault(step: step)
        case .lookup(let step): ValueLookup(step: step)
        }
    }
}
