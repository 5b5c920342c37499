import BSON
import Checking
import ServerSchema
import Testing

@Suite struct PartitionRuleTests {
    private func schema(
        _ type: SchemaType?, required: [String] = [], _ keyType: SchemaType = .string, _ isRequired: Bool? = nil,
        default value: BSONValue? = nil
    ) -> CompiledSchema {
        var root = SchemaNode.object(["_id": .of(.int)], required: required)
        if let type { root.properties.append(.init(name: "_partition", node: .of(type, default: value))) }
        let key = SyncConfiguration.PartitionKey(field: "_partition", type: keyType, isRequired: isRequired)
        return ServerSchema(CollectionSchema(namespace: .people, root: root), mode: .partition(key)).compiled()
    }

    @Test func partitionMissing() throws {
        let required = schema(.string, required: ["_partition"])
        #expect(try required.findings(["_id": 1, "_partition": "a"]) == [])
        #expect(try required.findings(["_id": 1]) == ["partition-missing certain _partition: string / missing"])
        #expect(
            try required.findings(["_id": 1, "_partition": nil])
                == ["partition-missing certain _partition: string / null"])
        let optional = schema(.string)
        #expect(try optional.findings(["_id": 1]) == ["partition-missing info _partition: string / missing"])
        #expect(
            try optional.findings(["_id": 1, "_partition": nil]) == ["partition-missing info _partition: string / null"]
        )
        #expect(try optional.verdict(["_id": 1]) == .fits)
    }

    @Test func theAppsOwnSwitchGoesBeforeTheSchemas() throws {
        let required = schema(.string, .string, true)
        #expect(try required.findings(["_id": 1]) == ["partition-missing certain _partition: string / missing"])
        // The app does not require a partition key, but the schema requires the field `_partition`, so it must be
        // present.
        let allowed = schema(.string, required: ["_partition"], .string, false)
        #expect(try allowed.findings(["_id": 1]) == ["required-missing certain _partition: string / missing"])
        #expect(
            try allowed.findings(["_id": 1, "_partition": nil]) == ["required-null certain _partition: string / null"])
    }

    @Test func aDefaultPutsNoDocumentInAPartition() throws {
        let schema = schema(.string, required: ["_partition"], default: "a")
        #expect(try schema.findings(["_id": 1]) == ["partition-missing certain _partition: string / missing"])
    }

    @Test func partitionType() throws {
        let schema = schema(.string)
        #expect(
            try schema.findings(["_id": 1, "_partition": 5]) == ["partition-type certain _partition: string / int"])
        let wrong = self.schema(.objectId)
        #expect(
            try wrong.findings(["_id": 1, "_partition": "a"])
                == ["partition-type certain _partition: objectId / string"])
        #expect(try wrong.verdict(["_id": 1, "_partition": .objectID(ObjectID(high: 1, low: 2))]) == .certain)
    }

    @Test func intAndLongAreOneType() throws {
        let int = schema(.int, .long)
        #expect(try int.findings(["_id": 1, "_partition": 5]) == [])
        #expect(try int.verdict(["_id": 1, "_partition": .long(5)]) == .possible)
        #expect(try int.verdict(["_id": 1, "_partition": 5.0]) == .certain)
        #expect(try schema(nil, .long).verdict(["_id": 1, "_partition": .long(5)]) == .fits)
    }

    @Test func aUUIDMustBeOne() throws {
        let schema = schema(.uuid, .uuid)
        #expect(try schema.findings(["_id": 1, "_partition": .uuid()]) == [])
        #expect(try schema.findings(["_id": 1, "_partition": .binary(subtype: 4, bytes: [])]).count == 1)
        #expect(
            try schema.findings(["_id": 1, "_partition": .binary(subtype: 3, bytes: .init(repeating: 1, count: 16))])
                == ["partition-type certain _partition: uuid / binData of subtype 3, 16 bytes"])
    }

    @Test func aKeyThatTheSchemaDoesNotDeclareIsJudgedAllTheSame() throws {
        let schema = schema(nil, .string, true)
        #expect(try schema.verdict(["_id": 1, "_partition": "a"]) == .fits)
        #expect(try schema.findings(["_id": 1]) == ["partition-missing certain _partition: string / missing"])
        #expect(try schema.verdict(["_id": 1, "_partition": 5]) == .certain)
    }

    @Test func otherDataSourcesHaveNoPartitions() throws {
        var collection = CollectionSchema(.people, ["_id": .of(.int), "_partition": .of(.string)])
        collection.service = "archive"
        let key = SyncConfiguration.PartitionKey(field: "_partition", type: .string, isRequired: true)
        var app = ServerSchema(collection, mode: .partition(key))
        app.sync?.service = "mongodb-atlas"
        #expect(app.scope(of: collection) == .outside)
        #expect(try app.compiled().findings(["_id": 1]) == [])
    }
}
