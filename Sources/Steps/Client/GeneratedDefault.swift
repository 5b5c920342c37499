import BSON
import Jobs
import ServerSchema

/// The ids that ``GenerateStep`` fills in.
struct GeneratedDefault: ClientTransform {
    let step: GenerateStep

    func outcomes(of documents: [BSONDocument], in context: ClientContext) -> [ClientOutcome] {
        documents.map { document in
            let id = GeneratedID(job: context.job, place: step.field.description, of: document["_id"] ?? .null)
            return .change(step.type == .uuid ? id.uuid : id.objectID)
        }
    }
}
