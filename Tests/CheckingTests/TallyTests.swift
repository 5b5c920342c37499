import BSON
import ServerSchema
import Testing

@testable import Checking

@Suite struct TallyTests {
    private let schema = CompiledSchema(
        ["email": .of(.string), "tags": .list(.of(.string)), "n": .of(.double)], required: ["email"])

    @Test func groupsCountDocumentsAndKeepTheFirstIDs() throws {
        var options = Tally.Options()
        options.sampleCount = 2
        var tally = Tally(schema, options: options)
        for id in 1...4 { try tally.add((["_id": .integer(id)] as BSONDocument).view) }
        try tally.add((["_id": 5, "email": "x", "tags": [1, 2, 3]] as BSONDocument).view)
        try tally.add((["_id": 6, "email": "x", "n": 1] as BSONDocument).view)
        try tally.add((["_id": 7, "email": "x", "extra": 1] as BSONDocument).view)
        #expect(tally.counts.read == 7)
        #expect(tally.counts.certain == 5)
        #expect(tally.counts.possible == 1)
        let groups = tally.violationGroups
        #expect(groups.map(\.violation.path.description) == ["email", "tags[]", "n"])
        #expect(groups.map(\.count) == [4, 1, 1])
        #expect(groups[0].sampleIDs == [1, 2])
    }

    @Test func documentsInTheLedgerAreCountedSeparately() throws {
        var ledger = LedgerIndex()
        ledger.insert(1, in: schema.namespace)
        ledger.insert(3, in: schema.namespace)
        var tally = Tally(schema)
        try tally.add((["_id": 1] as BSONDocument).view, ledger: ledger)
        try tally.add((["_id": 2] as BSONDocument).view, ledger: ledger)
        try tally.add((["_id": 3, "email": "x", "n": 1] as BSONDocument).view, ledger: ledger)
        #expect(tally.counts.certainInLedger == 1)
        #expect(tally.counts.newCertain == 1)
        #expect(tally.counts.possibleInLedger == 1)
        #expect(tally.counts.newPossible == 0)
    }

    @Test func mergingEqualsCountingAlone() throws {
        var documents: [BSONDocument] = []
        for id in 0..<60 {
            let email: BSONValue = id % 3 == 0 ? 5 : "x"
            documents.append(["_id": .integer(id), "email": email, "tags": id % 5 == 0 ? [nil] : []])
        }
        var alone = Tally(schema)
        var parts = [Tally(schema), Tally(schema), Tally(schema)]
        for (index, document) in documents.enumerated() {
            try alone.add(document.view)
            try parts[index / 20].add(document.view)
        }
        var merged = parts[0]
        merged.merge(parts[1])
        merged.merge(parts[2])
        #expect(merged.counts == alone.counts)
        #expect(merged.violationGroups == alone.violationGroups)
    }

    @Test func moreGroupsThanTheCapAreOnlyCounted() throws {
        let closed = CompiledSchema([:]) { $0.additionalProperties = .forbidden }
        var options = Tally.Options()
        options.maximumGroupCount = 3
        var tally = Tally(closed, options: options)
        for id in 0..<10 {
            try tally.add(BSONDocument([("_id", .integer(id)), ("field\(id)", 1 as BSONValue)]).view)
        }
        #expect(tally.violationGroups.count == 3)
        #expect(tally.overflowCount == 7)
        #expect(tally.counts.possible == 10)
        var twin = Tally(closed, options: options)
        twin.merge(tally)
        #expect(twin.overflowCount == 7)
    }

    @Test func hugeNamesAndIDsAreCountedButNotKept() throws {
        let closed = CompiledSchema(["_id": .of(.string), "a": .of(.int)]) { $0.additionalProperties = .forbidden }
        var tally = Tally(closed)
        let huge = String(repeating: "x", count: 10_000)
        try tally.add(BSONDocument([("_id", .string(huge)), ("a", "b"), (huge, 1 as BSONValue)]).view)
        #expect(tally.counts.certain == 1)
        #expect(tally.overflowCount == 1)
        #expect(tally.violationGroups.map(\.count) == [1])
        #expect(tally.violationGroups.first?.sampleIDs == [])
    }

    @Test func damagedDocumentsAreNotCounted() throws {
        var bytes = (["_id": 1, "email": "abc"] as BSONDocument).bytes
        bytes[13] = 0x55
        let document = try BSONDocument(bytes: bytes)
        var tally = Tally(schema)
        #expect(throws: BSONError.self) { try tally.add(document.view) }
        #expect(tally.counts.read == 0)
    }

    @Test func infoIsGroupedWhenAskedFor() throws {
        var options = Tally.Options()
        options.includesInfo = true
        var tally = Tally(schema, options: options)
        try tally.add((["_id": 1, "email": "x", "extra": 1] as BSONDocument).view)
        #expect(tally.counts.certain + tally.counts.possible == 0)
        #expect(tally.violationGroups.map(\.violation.rule.rule) == [.extraField])
    }
}
