import BSON
import ServerSchema
import TestSupport
import Testing

@testable import Checking

/// The filters of a tally's violation groups, in their short and their long form.
struct FilterForms {
    private let schema: CompiledSchema
    private let keys: [FindingCollector.Located]

    /// - Parameter path: the path of the groups; `nil` for all groups.
    init(_ tally: Tally, at path: SchemaPath? = nil) {
        schema = tally.schema
        keys = tally.groups.map(\.key).filter { path == nil || tally.schema.path(of: $0) == path }
    }

    /// Expects that the server finds the same documents by both forms of each filter, also in a collection with a
    /// collation that ignores the case of letters.
    ///
    /// - Parameters:
    ///   - collection: a collection without a collation, which contains the documents.
    ///   - documents: the documents of the collection.
    /// - Returns: the number of short forms that were compared.
    @discardableResult
    func compare(in collection: String, _ documents: [BSONDocument], _ database: TestDatabase) async throws -> Int {
        let collated = collection + "_collated"
        try await database.run([
            "create": .string(collated), "collation": ["locale": "en", "strength": 2],
        ])
        try await database.fill(collated, documents)
        let known = FilterBuilder(schema: schema.with(collation: nil, isKnown: true))
        let unknown = FilterBuilder(schema: schema.with(collation: ["locale": "en", "strength": 2], isKnown: true))
        var count = 0
        for key in keys {
            guard let short = known.forms(for: key).short else { continue }
            count += 1
            let ids = try await database.ids(known.forms(for: key).long, in: collection)
            #expect(try await database.ids(short, in: collection) == ids, "\(short)")
            let filter = unknown.filter(for: key).document
            #expect(try await database.ids(filter, in: collated) == ids, "with a collation: \(filter)")
        }
        return count
    }
}
