import BSON
import Jobs

/// Runs the client's computation of a step in each element of a list or dictionary.
///
/// The computation gets an object with the element in the field `v`, as an expression does. If it skips one element,
/// the whole document is skipped.
struct ElementTransform: ClientTransform {
    let inner: any ClientTransform
    /// The lists and dictionaries on the path to the elements, the outermost first.
    let containers: [FieldPath]

    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {
        try inner.collect(into: &preparation, in: context)
    }

    var readsID: Bool { inner.readsID }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        let found = try documents.map { try elements(of: $0) }
        var outcomes = try inner.outcomes(of: found.flatMap(\.self), in: context)[...]
        return try zip(documents, found).map { document, elements in
            var own = outcomes.prefix(elements.count)
            outcomes = outcomes.dropFirst(elements.count)
            for case .leave(let reason) in own { return .leave(reason) }
            guard own.contains(where: { $0 != .nothing }) else { return .nothing }
            let created = own.flatMap { outcome -> [ClientCreation] in
                if case .change(_, let creating) = outcome { creating } else { [] }
            }
            return .change(to: try rebuilt(document, containers[...], taking: &own), creating: created)
        }
    }

    /// Returns the elements of a document.
    ///
    /// The `_id` of an element depends on the bytes of the whole document, so that a later run does not derive the IDs
    /// of an element that has moved in its list a second time.
    private func elements(of document: BSONDocument) throws -> [BSONDocument] {
        let elements = try elements(of: document, containers[...])
        guard readsID else { return elements }
        let digest = BSONValue.binary(subtype: 0, bytes: SHA256.digest(of: document.bytes))
        return elements.enumerated().map { index, element in
            element.appending("_id", [document["_id"] ?? .null, digest, .integer(index)])
        }
    }

    private func elements(of object: BSONDocument, _ containers: ArraySlice<FieldPath>) throws -> [BSONDocument] {
        guard let container = containers.first else { return [object] }
        guard let inside = try object.value(at: container)?.document else { return [] }
        return try inside.elements().flatMap { try elements(of: ["v": $0.value], containers.dropFirst()) }
    }

    /// Returns the object with the next outcomes in place of the elements that ``elements(of:_:)`` returned.
    private func rebuilt(
        _ object: BSONDocument, _ containers: ArraySlice<FieldPath>, taking outcomes: inout ArraySlice<ClientOutcome>
    ) throws -> BSONDocument {
        guard let container = containers.first else {
            if case .change(let changed, _) = outcomes.removeFirst() { return changed }
            return object
        }
        guard let value = try object.value(at: container), let inside = value.document else { return object }
        var entries: [(String, BSONValue)] = []
        for (name, element) in try inside.elements() {
            let changed = try rebuilt(["v": element], containers.dropFirst(), taking: &outcomes)
            entries.append((name, changed["v"] ?? element))
        }
        let changed = BSONDocument(entries)
        return try object.setting(value.type == .array ? .array(changed) : .object(changed), at: container.components)
    }
}
