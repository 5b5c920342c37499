import BSON
import Checking
import DemoData
import Mongo
import Scanning
import ServerSchema
import TestSupport
import Testing

/// Tests that a check of the demo's data finds exactly the documents that the generator made bad.
@Suite struct DemoCheckTests {
    @Test func everyBadDocumentIsFoundAndNoOther() async throws {
        try await DemoApp.withLoaded { app in
            for version in DemoVersion.allCases {
                for schema in try app.schemas(version) { try await compare(schema, version, app) }
            }
        }
    }

    private func compare(_ schema: CollectionSchema, _ version: DemoVersion, _ app: DemoApp) async throws {
        let name = schema.namespace.collection
        let collection = try #require(app.collections.first { $0.namespace.collection == name })
        let compiled = CompiledSchema(schema)
        let expected = Finding.made(by: collection, against: version)
        let found = try await Finding.found(by: compiled, on: app.database.pool)
        #expect(found.subtracting(expected).isEmpty, "found in \(name), and not made by the generator")
        #expect(expected.subtracting(found).isEmpty, "made by the generator, and not found in \(name)")

        let groups = try await scan(compiled, of: collection, against: version, app)
        try await compare(groups, with: expected, of: collection, app)
        try await compare(groups, of: collection, against: version, app)
    }

    /// Scans a collection with several threads, compares the counts with the generator's, and returns the groups.
    private func scan(
        _ compiled: CompiledSchema, of collection: DemoCollection, against version: DemoVersion, _ app: DemoApp
    ) async throws -> [ViolationGroup] {
        var options = ScanOptions()
        options.threads = 3
        let tally = try await CollectionScan(
            compiled, on: app.database.pool, options: options
        ).run().tally
        let levels = (0..<collection.count).map { index in
            collection.flaws(at: index, against: version).map(\.level)
        }
        #expect(tally.counts.read == collection.count)
        #expect(tally.counts.certain == levels.count { $0.contains(.certain) })
        #expect(tally.counts.possible == levels.count { !$0.isEmpty && !$0.contains(.certain) })
        #expect(tally.overflowCount == 0)
        return tally.violationGroups
    }

    /// Expects that each group of findings counts the documents with its flaw, and that its filter finds them on the
    /// server.
    private func compare(
        _ groups: [ViolationGroup], with expected: Set<Finding>, of collection: DemoCollection, _ app: DemoApp
    ) async throws {
        let byFlaw = Dictionary(grouping: expected, by: \.flaw).mapValues { Set($0.map(\.id)) }
        #expect(Set(groups.map(DemoFlaw.init)) == Set(byFlaw.keys))
        #expect(groups.count == byFlaw.count, "a flaw is one group")
        for group in groups {
            let ids = byFlaw[DemoFlaw(group)] ?? []
            #expect(group.count == ids.count, "\(group.violation)")
            #expect(ids.isSuperset(of: group.sampleIDs), "\(group.violation)")
            #expect(group.filterIsExact, "\(group.violation)")
            #expect(try await app.ids(group.filter, in: collection) == ids, "\(group.violation)")
        }
    }

    /// Expects that the filter of each rule finds the same documents as a handwritten query.
    private func compare(
        _ groups: [ViolationGroup], of collection: DemoCollection, against version: DemoVersion, _ app: DemoApp
    ) async throws {
        let queries = DemoQuery.all(of: collection.namespace.collection, against: version)
        #expect(
            Set(queries.map { "\($0.rule) \($0.path)" })
                == Set(groups.map { "\($0.violation.rule) \($0.violation.path)" }))
        for query in queries {
            let group = groups.first { "\($0.violation.rule)" == query.rule && "\($0.violation.path)" == query.path }
            let filter = try #require(group?.filter, "\(query.rule) \(query.path)")
            let ids = try await app.ids(query.filter, in: collection)
            #expect(!ids.isEmpty)
            #expect(try await app.ids(filter, in: collection) == ids, "\(query.rule) \(query.path)")
        }
    }
}

/// One flaw of one document.
private struct Finding: Hashable {
    var id: BSONValue
    var flaw: DemoFlaw

    /// Returns the flaws that the generator has put into the documents of a collection.
    static func made(by collection: DemoCollection, against version: DemoVersion) -> Set<Finding> {
        var made: Set<Finding> = []
        for index in 0..<collection.count {
            for flaw in collection.flaws(at: index, against: version) {
                made.insert(Finding(id: collection.id(at: index), flaw: flaw))
            }
        }
        return made
    }

    /// Returns the flaws that the schema finds in the documents as the server returns them.
    static func found(by schema: CompiledSchema, on pool: ClientPool) async throws -> Set<Finding> {
        try await pool.run { client in
            var found: Set<Finding> = []
            var cursor = client.collection(schema.namespace).find()
            while let view = try cursor.next() {
                for violation in try schema.violations(in: view, includingInfo: false) {
                    let element = try #require(try view.find("_id"))
                    found.insert(Finding(id: try view.value(element), flaw: DemoFlaw(violation)))
                }
            }
            return found
        }
    }
}

extension DemoFlaw {
    fileprivate init(_ violation: Violation) {
        let level: Level = violation.level == .certain ? .certain : .possible
        self.init("\(violation.rule)", "\(violation.path)", level)
    }

    fileprivate init(_ group: ViolationGroup) { self.init(group.violation) }
}
