import BSON
import Checking
import Mongo
import ServerSchema
import TestSupport
import Testing

/// A group of violations, and the `_id`s of the documents that the checker counts in it.
struct FilteredGroup {
    let group: ViolationGroup
    let ids: Set<BSONValue>

    /// Checks documents one by one, and compares each group of violations with the documents that the group's filter
    /// finds on the server.
    ///
    /// - Parameter change: changes the schema that was read, for instance to make it part of an app.
    /// - Returns: the groups that were compared.
    static func compare(
        _ documents: [BSONDocument], _ schema: String, _ options: CheckOptions = CheckOptions(),
        change: (inout ServerSchema) -> Void = { _ in }
    ) async throws -> [FilteredGroup] {
        try await Mongod.shared.withDatabase { database in
            var read = try ServerSchema.read(text: schema, namespace: database.namespace("a"))
            change(&read)
            let compiled = CompiledSchema(read.collections[0], of: read, options: options)
            try await database.fill("a", documents)
            let (tally, members) = try tally(documents, compiled)
            let groups = tally.violationGroups
            try await FilterForms(tally).compare(in: "a", documents, database)
            var found: [FilteredGroup] = []
            for group in groups {
                // Two groups may have the same violation, for instance if two schemas apply to the same field. These
                // groups are not compared, because `members` lists the documents of both under the one violation.
                guard groups.count(where: { $0.violation == group.violation }) == 1 else { continue }
                let ids = members[group.violation] ?? []
                #expect(group.count == ids.count)
                let onServer = try await database.ids(group.filter, in: "a")
                #expect(onServer.isSuperset(of: ids), "\(group.violation)")
                if group.filterIsExact { #expect(onServer == ids, "\(group.violation)") }
                found.append(FilteredGroup(group: group, ids: ids))
            }
            return found
        }
    }

    private static func tally(
        _ documents: [BSONDocument], _ schema: CompiledSchema
    ) throws -> (Tally, [Violation: Set<BSONValue>]) {
        var options = Tally.Options()
        options.includesInfo = true
        var tally = Tally(schema, options: options)
        var members: [Violation: Set<BSONValue>] = [:]
        for document in documents {
            try tally.add(document.view)
            for violation in try schema.violations(in: document.view, includingInfo: true) {
                members[violation, default: []].insert(document["_id"] ?? .undefined)
            }
        }
        return (tally, members)
    }
}

extension [FilteredGroup] {
    /// Returns the `_id`s of the documents in all groups of one rule.
    func ids(_ rule: Rule) -> Set<BSONValue> {
        Set<BSONValue>(filter { $0.group.violation.rule == rule }.flatMap(\.ids))
    }

    /// Whether the filter of each group of one rule claims to find the counted documents and no others.
    func isExact(_ rule: Rule) -> Bool {
        filter { $0.group.violation.rule == rule }.allSatisfy(\.group.filterIsExact)
    }
}
