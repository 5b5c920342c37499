import ServerSchema
import Testing

@Suite struct SyncReaderTests {
    private func app(_ sync: String) throws -> AppFolder {
        try AppFolder([
            "sync/config.json": sync,
            "data_sources/main/shop/Pet/schema.json": #"{"title": "Pet", "properties": {"_id": {"bsonType": "int"}}}"#,
        ])
    }

    @Test(arguments: [
        "{}", #"{"development_mode_enabled": false}"#, #"{"type": "partition"}"#, #"{"type": ""}"#,
        #"{"partition": null}"#, #"{"partition": {}}"#, #"{"type": "partition", "partition": {"key": ""}}"#,
    ]) func anUnconfiguredSyncIsNone(_ text: String) throws { #expect(try app(text).read().sync == nil) }

    @Test func anAbsentTypeFollowsFromTheRest() throws {
        #expect(try app(#"{"queryable_fields_names": []}"#).read().sync?.mode == .flexible)
        #expect(
            try app(#"{"partition": {"key": "p", "type": "objectId"}}"#).read().sync?.mode
                == .partition(.init(field: "p", type: .objectId)))
    }

    @Test(arguments: [
        (#""enabled""#, SyncConfiguration.State.enabled), ("true", .enabled), (#""disabled""#, .paused),
        (#""""#, .terminated), ("false", .paused), ("null", nil),
    ]) func theStateHasManySpellings(_ state: String, _ expected: SyncConfiguration.State?) throws {
        let text = #"{"type": "flexible", "state": \#(state), "last_disabled": 1700000000}"#
        let sync = try app(text).read().sync
        #expect(sync?.state == expected)
        #expect(sync?.pausedAt == (expected == .paused ? 1_700_000_000 : nil))
    }

    @Test func nullMeansAbsent() throws {
        let text = #"{"type": "flexible", "queryable_fields_names": null, "service_name": null, "permissions": 7}"#
        #expect(try app(text).read().sync?.queryableFields == [])
    }

    @Test(arguments: [
        ("[]", "1:1: the sync configuration must be an object"),
        (#"{"type": "flexibel"}"#, #"1:10: unknown type of sync "flexibel" (did you mean "flexible"?)"#),
        (
            #"{"type": "flexible", "queryable_fields_names": "a"}"#,
            "1:48: queryable_fields_names must be a list of names, not a string"
        ),
        (
            #"{"type": "flexible", "queryable_fields_names": [1]}"#,
            "1:49: queryable_fields_names must list names, not a number"
        ),
        (
            #"{"type": "flexible", "collection_queryable_fields_names": []}"#,
            "1:59: collection_queryable_fields_names must be an object of lists, not an array"
        ),
        (
            #"{"type": "flexible", "development_mode_enabled": "no"}"#,
            "1:50: development_mode_enabled must be true or false, not a string"
        ),
        (#"{"partition": []}"#, "1:15: partition must be an object, not an array"),
        (
            #"{"partition": {"key": "p"}}"#,
            #"1:15: the partition key has no type (write type "string", "objectId", "long" or "uuid")"#
        ),
        (
            #"{"partition": {"key": "p", "type": "strng"}}"#,
            #"1:36: unknown type "strng" of the partition key (did you mean "string"?)"#
        ),
    ]) func unreadablePartsAreNamed(_ text: String, _ error: String) throws {
        #expect(try app(text).failure() == "sync/config.json:\(error)")
    }
}
