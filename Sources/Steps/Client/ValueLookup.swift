import BSON
import JobState
import Jobs
import Mongo

/// Runs a ``LookupStep`` on the client.
struct ValueLookup: ClientTransform {
    let step: LookupStep

    /// The largest number of documents in a lookup collection that lacks an index on a field by which it is read.
    private static let maximum = 10_000

    /// Throws if the lookup collection does not exist, or if it has more than ``maximum`` documents and lacks an index
    /// on a field by which the step reads it.
    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {
        let lookup = Lookup(namespace: step.lookup)
        guard try lookup.exists(in: context) else { throw RunError.lookupMissing(step.lookup) }
        for field in step.searched {
            guard try !Lookup(namespace: step.lookup, field: field).isIndexed(in: context) else { continue }
            let count = try context.collection.sibling(step.lookup).estimatedCount()
            guard count <= Self.maximum else {
                throw RunError(
                    .schemaMismatch,
                    "\(step.lookup) has \(count.grouped) documents and no index that begins with \"\(field)\": each "
                        + "batch would read all of them; create one with createIndex({ \"\(field)\": 1 })")
            }
        }
    }

    func outcomes(of documents: [BSONDocument], in context: ClientContext) throws -> [ClientOutcome] {
        let values = try documents.map { try $0.value(at: step.field.local) }
        let keys = values.flatMap { $0?.links ?? [] }
        let byKey = try Lookup(namespace: step.lookup, field: step.old).documents(
            keys, fields: step.taken.map(\.name), in: context)
        guard !step.isInto else {
            return try zip(documents, values).map { document, value in
                guard let value, value.isLink else { return .nothing }
                return try taking(byKey[IDKey(value)], into: document)
            }
        }
        // A key that is not in the lookup collection may already be a new value. The step keeps such a value if the job
        // file does not set `once` for the step.
        let new = step.taken[0].name
        let others = keys.filter { byKey[IDKey($0)] == nil }
        let byNew = try Lookup(namespace: step.lookup, field: new).documents(others, fields: [], in: context)
        return try zip(documents, values).map { document, value in
            guard let value else { return .nothing }
            var changes: [IDKey: BSONValue] = [:]
            for key in value.links.map(IDKey.init) {
                guard let entries = byKey[key] else {
                    if step.once != nil || byNew[key] == nil { return .leave(.unknownKey) }
                    continue
                }
                let targets = Set(entries.map { $0[new] })
                guard targets.count == 1, let target = targets.first ?? nil else { return .leave(.ambiguousKey) }
                guard target.isLink else { return .leave(.unknownKey) }
                changes[key] = target
            }
            let remap = { (key: BSONValue) in changes[IDKey(key)] ?? key }
            let changed: BSONValue =
                if case .array(let list) = value { .array(of: list.values.map(remap)) } else { remap(value) }
            return changed.hasSameBytes(as: value) ? .nothing : try .change(document, [(step.field, changed)])
        }
    }

    /// Returns the outcome for a document that takes over values of the entries of its key.
    ///
    /// A field that the entry lacks is not written.
    private func taking(_ entries: [BSONDocument]?, into document: BSONDocument) throws -> ClientOutcome {
        guard let entries else { return .leave(.unknownKey) }
        var changes: [(FieldPath, BSONValue)] = []
        for taken in step.taken {
            let values = Set(entries.map { $0[taken.name] })
            guard values.count == 1 else { return .leave(.ambiguousKey) }
            guard let value = values.first ?? nil else { continue }
            if let present = try document.value(at: taken.target.local) {
                if present.hasSameBytes(as: value) || step.whenPresent == .keep { continue }
                guard step.whenPresent == .replace else { return .leave(.targetDiffers) }
            }
            changes.append((taken.target, value))
        }
        return changes.isEmpty ? .nothing : try .change(document, changes)
    }
}
