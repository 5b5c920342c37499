import BSON
import ServerSchema
import Testing

@testable import SchemaChange

@Suite struct VerdictTests {
    @Test(arguments: ChangeRow.all)
    func eachRowHasItsVerdicts(_ row: ChangeRow) throws {
        let changes = try SchemaDiff.changes(
            from: row.old, to: row.new, renames: row.renames.map { try Rename($0) })
        try #require(changes.count == 1, "\(changes.map(\.row))")
        #expect(changes[0].kind == row.kind)
        #expect(changes[0].server == row.server)
        #expect(changes[0].client == row.client)
        #expect(changes[0].kind.source.quickReference == row.quickReference)
        #expect(changes[0].description == row.says)
        #expect(SchemaDiff.changes(from: row.old, to: row.old) == [])
        #expect(SchemaDiff.changes(from: row.new, to: row.new) == [])
    }

    @Test func theTableHoldsEveryKind() {
        #expect(Set(ChangeRow.all.map(\.kind)) == Set(ChangeKind.all))
        for kind in ChangeKind.all {
            #expect(!kind.consequences.isEmpty && kind.advice.hasSuffix("."), "\(kind.code)")
            #expect(kind.consequences.contains(.terminate) == (kind.server == .breaking), "\(kind.code)")
        }
    }

    @Test func theTableHoldsTheElevenRowsOfTheQuickReference() {
        #expect(quickReference.count == 11)
        for entry in quickReference {
            let rows = ChangeRow.all.filter { $0.quickReference == entry.row }
            #expect(!rows.isEmpty, "\(entry.row)")
            for row in rows where row.kind != .integerWidthChanged {
                #expect(row.server == entry.server && row.client == entry.client, "\(entry.row)")
            }
        }
        #expect(Set(ChangeRow.all.compactMap(\.quickReference)) == Set(quickReference.map(\.row)))
    }

    @Test func titlesDescriptionsAndOrderOfScalarsAreNoChange() throws {
        let old = type(
            #""a": {"bsonType": "int", "title": "A", "description": "an a"}, "b": \#(int)"#, required: #""a", "b""#)
        let new = type(#""b": \#(int), "a": {"bsonType": "int", "title": "B"}"#, required: #""b", "a""#)
        #expect(try changes(old, new) == [])
    }

    @Test func aCollectionThatDoesNotSyncBreaksNoClient() throws {
        func verdicts(_ old: ServerSchema, _ new: ServerSchema) -> [String] {
            SchemaDiff.changes(from: old, to: new).map { "\($0.code) \($0.server.rawValue) \($0.client.rawValue)" }
        }
        let harmless = ["property-removed non-breaking non-breaking"]
        #expect(verdicts(app(type(#""x": \#(int)"#, title: nil)), app(type("", title: nil))) == harmless)
        let bare = #"{"title": "Person", "properties": {"#
        #expect(verdicts(app(bare + #""x": \#(int)}}"#), app(bare + "}}")) == harmless)
        var (old, new) = (app(x(int)), app(type("")))
        #expect(verdicts(old, new) == ["property-removed breaking non-breaking"])
        old.sync = SyncConfiguration(mode: .flexible, location: SourceLocation(whole: "sync"))
        old.sync?.service = "a"
        new.sync = old.sync
        old.collections[0].service = "b"
        new.collections[0].service = "b"
        #expect(verdicts(old, new) == harmless)
    }

    @Test func versionedSchemasKeepOldClientsGoing() throws {
        func verdict(_ old: String, _ new: String) throws -> [String] {
            try SchemaDiff.changes(from: app(old), to: app(new), renames: [], isVersioned: true)
                .map { "\($0.code) \($0.server.rawValue) \($0.client.rawValue)" }
        }
        #expect(try verdict(x(int), type("")) == ["property-removed versioned non-breaking"])
        #expect(try verdict(x(int), x(int, required: true)) == ["optional-to-required versioned versioned"])
        #expect(try verdict(x(int), x(string)) == ["property-type-changed breaking breaking"])
    }
}
