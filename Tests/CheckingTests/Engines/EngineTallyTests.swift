import BSON
import ServerSchema
import Testing

@testable import Checking

/// Tests the counts of documents by outcome: the consequence that a document has in a sync engine.
@Suite struct EngineTallyTests {
    private static let far = BSONValue.date(milliseconds: .max)

    private func tally(
        _ documents: [BSONDocument], exceptions: [FindingException] = [], keeping: Bool = false
    ) throws -> Tally {
        var options = Tally.Options()
        options.keepsContributions = keeping
        var tally = Tally(.of(EngineSettings(.powersync)), exceptions: exceptions, options: options)
        for document in documents { try tally.add(document.view) }
        return tally
    }

    @Test func eachDocumentCountsOnceByItsWorstOutcome() throws {
        let tally = try tally([
            ["_id": 1, "at": Self.far, "x": .minKey], ["_id": 0, "x": .minKey],
            ["_id": 2, "x": [.minKey, .double(.nan)], "y": .maxKey], ["_id": 3, "x": 1],
        ])
        let counts = try #require(tally.counts.engine)
        #expect([counts.halting, counts.dropped, counts.losing, counts.values] == [1, 1, 1, 3])
        #expect(tally.counts.certain == 3)
        #expect(tally.violationGroups.first?.violation.rule.rawValue == "powersync-date")
    }

    @Test func aDocumentThatIsSubtractedLeavesNoCount() throws {
        var tally = try tally([["_id": 1, "x": .minKey], ["_id": 2, "at": Self.far]], keeping: true)
        tally.take(back: tally.lastContribution, of: 2)
        let counts = try #require(tally.counts.engine)
        #expect([counts.halting, counts.losing, counts.values] == [0, 1, 1])
    }

    @Test func anExceptionCoversAHaltingDocument() throws {
        let exception = FindingException(
            namespace: Namespace(database: "app", collection: "Task"), path: "at",
            rule: RuleCode(rawValue: "powersync-date"),
            acceptance: Acceptance(reason: "r", owner: "o", expires: nil, location: SchemaNode.nowhere))
        let counts = try tally([["_id": 1, "at": Self.far], ["_id": 2, "then": Self.far]], exceptions: [exception])
            .counts
        #expect(counts.engine?.halting == 2)
        #expect(counts.engine?.haltingExcepted == 1)
        #expect(counts.unexcepted.certain == 1)
    }

    @Test func theTextOfAnIDIsCountedAfterTheDocument() throws {
        var tally = try tally([["_id": 1], ["_id": "1"], ["_id": "2", "x": .minKey]])
        #expect(tally.canHaveEqualTexts)
        for document: BSONDocument in [["_id": 1], ["_id": "1"]] {
            try tally.countEqualText(document.view, ledger: nil)
        }
        let counts = try #require(tally.counts.engine)
        // One of the two documents arrives.
        #expect([counts.dropped, counts.losing, tally.counts.certain, tally.counts.read] == [1, 1, 2, 3])
        #expect(tally.counts.unexcepted.certain == 2)
        let group = try #require(tally.violationGroups.first { $0.violation.rule.rawValue == "powersync-id-text" })
        #expect("\(group.violation.path)" == "_id")
        #expect(group.violation.found == "int with the text of another _id" && group.count == 1)
    }

    @Test(
        arguments: [
            (["_id": 1], ["_id": .long(2)], false), (["_id": 1], ["_id": "2"], true),
            (["_id": "a"], ["_id": "b"], false),
            (["_id": ["a": 1]], ["_id": ["b": 1]], true),
            (["_id": 0.1], ["_id": .decimal(coefficient: 1, exponent: -1)], true),
            (["_id": nil], ["_id": "a"], false),
            (["_id": 1e21], ["_id": "1000000000000000000000"], true),
        ] as [(BSONDocument, BSONDocument, Bool)])
    func onlyIDsOfSeveralKindsCanHaveEqualTexts(
        _ one: BSONDocument, _ other: BSONDocument, _ canHave: Bool
    ) throws {
        #expect(try tally([one, other]).canHaveEqualTexts == canHave)
    }

    @Test(
        arguments: [
            (.int(1), "1"), (.double(1), "1"), (.double(-0.5), "-0.5"), (.double(1e-7), "1e-7"),
            (.double(1.5e-5), "0.000015"), (.double(1e21), "1000000000000000000000"),
            (.double(-1e23), "-99999999999999991611392"), (.double(-0.0), "0"),
            (["a": [.double(1e21), .double(0x1p60), .double(3)]], "{\"a\":[1e+21,1152921504606847000,3]}"),
            (.bool(true), "1"), (.long(.min), "-9223372036854775808"), (.decimal(coefficient: 10, exponent: -1), "1.0"),
            (.objectID(ObjectID(high: 0x0102_0304_0506_0708, low: 9)), "010203040506070800000009"),
            (.uuid(7), "07070707-0707-0707-0707-070707070707"), (.date(milliseconds: -1), "1969-12-31T23:59:59.999Z"),
            (["a": ["b\"", nil, .binary(subtype: 0, bytes: [1])], "c": .undefined], "{\"a\":[\"b\\\"\",null,null]}"),
            (.date(milliseconds: 253_402_300_800_000), "+010000-01-01T00:00:00.000Z"),
            (.date(milliseconds: -62_167_219_200_001), "-000001-12-31T23:59:59.999Z"),
            (nil, nil), (.binary(subtype: 4, bytes: [1]), nil),
        ] as [(BSONValue, String?)])
    func theTextOfAnID(_ id: BSONValue, _ text: String?) throws {
        let bytes = try CompiledSchema.of(EngineSettings(.any)).idText(of: BSONDocument([("_id", id)]).view)
        #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == text)
    }
}
