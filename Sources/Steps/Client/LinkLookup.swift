import BSON
import JobState
import Jobs
import Mongo

/// Runs a ``LookupLinkStep`` on the client.
struct LinkLookup: ClientTransform {
    let step: LookupLinkStep

    /// The largest number of documents in a lookup collection that lacks an index on the field with the old keys or on
    /// the field with the new keys.
    private static let maximum = 10_000

    /// Throws if the lookup collection does not exist, or if it has more than ``maximum`` documents and lacks an index
    /// on a field that the step reads.
    func collect(into preparation: inout ClientPreparation, in context: ClientContext) throws {
        let lookup = Lookup(namespace: step.lookup)
        guard try lookup.exists(in: context) else { throw RunError.lookupMissing(step.lookup) }
        for field in [step.old, step.new] {
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
        let values = try documents.map { try $0.value(at: step.field) }
        let links = values.flatMap { $0.map(Self.links) ?? [] }
        let byOld = try Lookup(namespace: step.lookup, field: step.old).documents(
            links, fields: [step.new], in: context)
        // A link that is no old key in the lookup collection may already be a new key. The step keeps such a link if
        // the job file does not set `once` for the step.
        let others = links.filter { byOld[IDKey($0)] == nil }
        let byNew = try Lookup(namespace: step.lookup, field: step.new).documents(others, fields: [], in: context)
        return values.map { value in
            guard let value else { return .nothing }
            let links = Self.links(of: value)
            var changes: [IDKey: BSONValue] = [:]
            for link in links {
                let key = IDKey(link)
                guard let entries = byOld[key] else {
                    if step.once != nil || byNew[key] == nil { return .leave(.unknownKey) }
                    continue
                }
                let targets = Set(entries.map { $0[step.new] })
                guard targets.count == 1, let target = targets.first ?? nil else { return .leave(.ambiguousKey) }
                guard target.isLink else { return .leave(.unknownKey) }
                changes[key] = target
            }
            let remap = { (link: BSONValue) in changes[IDKey(link)] ?? link }
            let changed: BSONValue =
                if case .array(let list) = value { .array(of: list.values.map(remap)) } else { remap(value) }
            return changed.hasSameBytes(as: value) ? .nothing : .change(changed)
        }
    }

    private static func links(of value: BSONValue) -> [BSONValue] {
        guard case .array(let list) = value else { return [value].filter(\.isLink) }
        return list.values.filter(\.isLink)
    }
}
