import BSON
import Jobs

/// Runs a ``DedupeStep`` on the client, which compares objects and lists as a validator does.
struct Deduplication: ClientTransform {
    let step: DedupeStep

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        try documents.map { document in
            guard case .array(let list)? = try document.value(at: step.field.local) else { return .nothing }
            let kept = try distinct(list.values)
            return kept.count == list.values.count
                ? .nothing : try .change(document, [(step.field, .array(of: kept))])
        }
    }

    private func distinct(_ elements: [BSONValue]) throws(BSONError) -> [BSONValue] {
        var seen = DistinctValues()
        var kept: [BSONValue] = []
        for element in step.keepsLast ? elements.reversed() : elements {
            guard let key = try key(of: element) else {
                kept.append(element)
                continue
            }
            if seen.insert(key) { kept.append(element) }
        }
        return step.keepsLast ? kept.reversed() : kept
    }

    /// Returns the value by which the element is compared; `nil` if it equals no other element.
    private func key(of element: BSONValue) throws(BSONError) -> BSONValue? {
        guard case .key(let path) = step.by else { return element }
        guard case .object(let object) = element, let key = try object.value(at: path) else { return .none }
        return [.null, .undefined].contains(key.type) ? .none : key
    }
}
