import BSON
import Mongo

/// A document whose change is to be taken back.
struct Restoring {
    let id: BSONValue
    let group: JournalGroup
    /// The index of the group, which tells documents that are restored alike.
    let groupIndex: Int
    /// The document as it was read: whole, or of it the fields that matter.
    let current: BSONDocument

    /// The document with the changed fields as they were.
    ///
    /// Where a field went, all changed fields are put back at the places that they had, and the others keep their order.
    func restored() throws(BSONError) -> BSONDocument {
        let before = try group.before.elements()
        guard let places = group.places else {
            var builder = BSONBuilder()
            var put: Set<String> = []
            for (name, value) in try current.elements() {
                if let old = before.first(where: { $0.name == name }) {
                    builder.append(name, old.value)
                    put.insert(name)
                } else if !group.added.contains(name) {
                    builder.append(name, value)
                }
            }
            for (name, value) in before where !put.contains(name) { builder.append(name, value) }
            return builder.finish()
        }
        let names = Set(group.names)
        var elements = try current.elements().filter { !names.contains($0.name) }
        for (element, place) in zip(before, places).sorted(by: { $0.1 < $1.1 }) {
            elements.insert(element, at: min(max(place, 0), elements.count))
        }
        return BSONDocument(elements.map { ($0.name, $0.value) })
    }

    /// The update that restores documents of one group, while they are as they were read.
    /// - Parameter documents: all of one group, and alike in the changed fields.
    static func statement(_ documents: [Restoring], under lease: Lease) throws(BSONError) -> UpdateStatement? {
        guard let first = documents.first else { return nil }
        let group = first.group
        var conditions = [lease.fence, SyncLock.isFree]
        let update: BSONDocument
        if group.places != nil {
            conditions.append(.same(.variable("ROOT"), .constant(.object(first.current))))
            update = try first.restored()
        } else {
            let now = try group.fields(of: first.current)
            for name in group.names { conditions.append(.isExactly(now[name], at: [name])) }
            var changes: [(String, BSONValue)] = []
            if !group.before.isEmpty { changes.append(("$set", .object(group.before))) }
            let gone = group.added.filter { now[$0] != nil }
            if !gone.isEmpty { changes.append(("$unset", .object(BSONDocument(gone.map { ($0, "") })))) }
            update = BSONDocument(changes)
        }
        let filter: BSONDocument = [
            "_id": ["$in": .array(of: documents.map(\.id))], "$expr": Expression.all(conditions).bson,
        ]
        return UpdateStatement(filter, .object(update), isMulti: group.places == nil, hint: ["_id": 1])
    }
}
