/// The rules of ObjectBox Sync, which converts each document to an object of a model that the operator states.
extension EngineRule {
    private static let mapping = "objectbox-sync-docs: mongodb-sync-connector/mongodb-data-mapping.md"
    private static let setup = "objectbox-sync-docs: mongodb-sync-connector/objectbox-sync-connector-setup.md"

    static let objectbox: [EngineRule] = [
        EngineRule(
            .objectboxSize, of: .objectbox, .halts, isCertain: false, if: .size(over: 16_776_192),
            expected: "document of at most 16 MiB less 1 KiB",
            meaning: "The document is so close to 16 MiB that a change on a client can make it larger. An oversized "
                + "document stops the sync to MongoDB, unless `skipOversizedDocumentsToMongoDb` is set",
            example: "16.7 MB in `log`",
            remedy: "store the large value elsewhere, or set "
                + "`skipOversizedDocumentsToMongoDb`", source: setup),
        EngineRule(
            .objectboxID, of: .objectbox, .dropped, if: .id(otherThan: [.objectId, .string, .binData, .int, .long]),
            expected: "objectId, UUID, string, binData, int or long",
            meaning: "The `_id` has a type that is not mapped: the document does not arrive",
            example: "`{_id: 1.5}`, `{_id: {a: 1}}`", remedy: "insert the document again under another `_id`",
            source: mapping),
        EngineRule(
            .objectboxConvert, of: .objectbox, .lostValue, if: .property, expected: "value of the property's type",
            meaning: "The value cannot be converted to the type that the model gives the property: it is skipped, with "
                + "a warning. With `strictConversionsFromMongoDb` the document does not arrive, and the sync may stop",
            example: "`{age: \"seven\"}` for an Int property", remedy: "`convert`, or another type in the model",
            source: setup),
        EngineRule(
            .objectboxArray, of: .objectbox, .lostValue, if: .elements,
            expected: "array of the property's elements",
            meaning: "The array has elements of several types, or objects, and the property is a vector of one type",
            example: "`{tags: [\"a\", 1]}` for a StringVector",
            remedy: "`convert` with `\"tags[]\"`, or a Flex or JSON property", source: mapping),
        EngineRule(
            .objectboxDeprecated, of: .objectbox, .lostValue,
            if: .types([.undefined, .dbPointer, .symbol], at: .anywhere), expected: "type that is not deprecated",
            meaning: "The value has the type undefined, DBPointer or symbol, which ObjectBox does not map",
            example: "`{x: undefined}`", remedy: "`unset`, or `expression`", source: mapping),
        EngineRule(
            .objectboxNull, of: .objectbox, .changed, if: .absentList, expected: "list",
            meaning: "The list is absent, and the property is null unless `emptyListForAbsentValuesFromMongoDb` is set",
            example: "`{}` for a StringVector", remedy: "none; `default` with `[]` to store an empty list",
            source: setup),
    ]
}

/// The rules of Ditto, whose MongoDB connector copies documents as JSON or as extended JSON.
extension EngineRule {
    private static let connector = "docs.ditto.live: cloud/mongodb-connector"

    static let ditto: [EngineRule] = [
        EngineRule(
            .dittoID, of: .ditto, .dropped, if: .id(otherThan: .all.subtracting([.null, .undefined])),
            expected: "_id that is not null",
            meaning: "The `_id` is null, and a field of the ID mapping cannot be null. Fields that you map instead of "
                + "the `_id` must be at the top level, present, never null, and never change", example: "`{_id: null}`",
            remedy: "insert the document again under another `_id`", source: connector),
        EngineRule(
            .dittoIDSize, of: .ditto, .dropped, isCertain: false, if: .idSize(over: 256),
            expected: "_id of at most 256 bytes",
            meaning: "The `_id` has more than 256 bytes, the most that a "
                + "document's ID can have", example: "a URL of 300 characters",
            remedy: "map another field, or insert the document again under another `_id`",
            source: "software.ditto.live: DittoDocumentID"),
        EngineRule(
            .dittoSize, of: .ditto, .dropped, isCertain: false, if: .size(over: 5 << 20),
            expected: "document of at most 5 MiB",
            meaning: "The document is larger than 5 MiB, the hard limit: an error is logged, and a later version will "
                + "not replicate it. From 256 KiB on, a warning is logged", example: "6 MB in `photo`",
            remedy: "store the large value as an attachment",
            source: "docs.ditto.live: best-practices/document-size-limits"),
        EngineRule(
            .dittoTypes, of: .ditto, .changed, if: .types([.decimal, .long, .date, .objectId], at: .anywhere),
            expected: "type of JSON",
            meaning: "In the mode `json`, which is the default, the value loses its type; in the mode `ejson` it keeps "
                + "it", example: "a date arrives as text", remedy: "none; `mode: ejson` keeps the types",
            source: "docs.ditto.live: sdk/latest/crud/working-with-ejson"),
    ]
}

/// The rules of RxDB, whose replication plugin reads documents in the order of their primary key, and follows the
/// change stream.
extension EngineRule {
    private static let plugin = "rxdb: src/plugins/replication-mongodb"

    static let rxdb: [EngineRule] = [
        EngineRule(
            .rxdbID, of: .rxdb, .halts, if: .id(otherThan: [.string, .symbol]), expected: "string",
            meaning: "The `_id` is no string. With `_id` as the primary key, the pull fails at the document with MG1, "
                + "and is tried again for ever. With another primary key, documents whose key is missing or no string "
                + "are passed over in silence", example: "`{_id: ObjectId(…)}`",
            remedy: "a string field with a unique index as the primary key of the RxDB schema",
            source: "\(plugin)/mongodb-helper.ts, `mongodbDocToRxDB`"),
        EngineRule(
            .rxdbRead, of: .rxdb, .halts, if: .unreadable, expected: "document that js-bson reads",
            meaning: "The document has a value at which the driver's js-bson throws: text that is not UTF-8, a regular "
                + "expression that JavaScript does not compile, or binary data of subtype 2 with a wrong length. The "
                + "pull fails at its batch, and is tried again for ever",
            example: "Latin-1 in `name`", remedy: "write the value again",
            source: "\(plugin)/mongodb-checkpoint.ts; js-bson: src/parser/deserializer.ts"),
        EngineRule(
            .rxdbSchema, of: .rxdb, .halts, isCertain: false, if: .schema, expected: "document that fits the schema",
            meaning: "The document does not fit the schema of the check. If the RxDB schema says the same and RxDB "
                + "validates, the write fails, and the checkpoint does not move on",
            example: "`{}` where a field is "
                + "required", remedy: "as for the document's other findings",
            source: "\(plugin)/mongodb-checkpoint.ts"),
        EngineRule(
            .rxdbReserved, of: .rxdb, .lostValue, if: .names(["_deleted", "_meta", "_attachments"]),
            expected: "no such field",
            meaning: "The field's name is RxDB's own: `_deleted` arrives as false, and none of them is written back",
            example: "`{_deleted: true}`", remedy: "`rename`",
            source: "\(plugin)/mongodb-helper.ts, `rxdbDocToMongo`"),
    ]
}

/// The rules of Couchbase Sync Gateway, for documents that are copied from MongoDB to Couchbase.
extension EngineRule {
    private static let limits = "docs.couchbase.com: server/current/learn/clusters-and-availability/size-limitations"

    static let couchbase: [EngineRule] = [
        EngineRule(
            .couchbaseReserved, of: .couchbase, .dropped,
            if: .names([
                "_sync", "_rev", "_deleted", "_attachments", "_revisions", "_exp", "_purged", "_removed",
            ]), expected: "no such field",
            meaning: "The field's name is reserved, and Sync Gateway rejects the document. `_id` is reserved too: it "
                + "becomes the document's key, and must not stay in its body", example: "`{_rev: 3}`",
            remedy: "`rename`", source: "docs.couchbase.com: sync-gateway/current/data-modeling"),
        EngineRule(
            .couchbaseID, of: .couchbase, .dropped, if: .idSize(over: 250), expected: "_id of at most 250 bytes",
            meaning: "The text of the `_id` has more than 250 bytes, the most that a key can have",
            example: "a URL of 300 characters", remedy: "insert the document again under another `_id`",
            source: limits),
        EngineRule(
            .couchbaseIDText, of: .couchbase, .dropped, if: .idText, expected: "_id whose text no other _id has",
            meaning: "Another `_id` of the collection has the same text, so that two documents become one",
            example: "`{_id: 1}` and `{_id: \"1\"}`", remedy: "insert one of the two again under another `_id`",
            source: "docs.couchbase.com: sync-gateway/current/data-modeling"),
        EngineRule(
            .couchbaseSize, of: .couchbase, .dropped, if: .rowBytes(over: 20 << 20),
            expected: "document of at most 20 MiB as JSON",
            meaning: "The document has more than 20 MiB as JSON text, the most that a document can have",
            example: "15 MB of control characters", remedy: "store the large value elsewhere", source: limits),
    ]
}

/// The rules of ``Engine/any``: conditions that cause trouble with at least one sync engine.
extension EngineRule {
    static let any: [EngineRule] = [
        EngineRule(
            .anyDepth, of: .any, .halts, if: .depth(over: 20), expected: "at most 20 levels below a field",
            meaning: "An object or array is nested deeper than 20 levels below its top-level field",
            example: "22 objects, each in the one before it", remedy: "flatten the value", source: "`powersync-depth`"),
        EngineRule(
            .anyDate, of: .any, .halts, if: .dates(outside: javaScriptDates),
            expected: "date within 8.64e15 ms of 1970",
            meaning: "A date is beyond what a JavaScript `Date` holds, 8.64e15 ms before or after 1970",
            example: "`Date(9223372036854775807)`",
            remedy: limitingDates(
                from: #"{$numberLong: "-8640000000000000"}"#, to: #"{$numberLong: "8640000000000000"}"#),
            source: "`powersync-date`"),
        EngineRule(
            .anyYear, of: .any, .halts, isCertain: false, if: .dates(outside: fourDigitYears),
            expected: "date of the years 0 to 9999",
            meaning: "A date is outside the years 0 to 9999, which several tools cannot write as text",
            example: "`Date(253402300800000)`",
            remedy: limitingDates(from: #""0000-01-01T00:00:00Z""#, to: #""9999-12-31T23:59:59.999Z""#),
            source: "olake pull request 900"),
        EngineRule(
            .anyIDText, of: .any, .dropped, if: .idText, expected: "_id whose text no other _id has",
            meaning: "Another `_id` of the collection has the same text, and engines whose keys are text make one "
                + "document of two", example: "`{_id: 1}` and `{_id: \"1\"}`; an ObjectId and its hex",
            remedy: "insert one of the two again under another `_id`",
            source: "`powersync-id-text`; airbyte issue 41604 and dsync pull request 382, on `_id`s of several types"),
        EngineRule(
            .anySize, of: .any, .dropped, if: .size(over: 15 << 20), expected: "document of at most 15 MiB",
            meaning: "The document is larger than 15 MiB, and may be too large on its way back, too",
            example: "16 MB in `log`", remedy: "store the large value elsewhere", source: "`powersync-size`"),
        EngineRule(
            .anyLarge, of: .any, .dropped, isCertain: false, if: .size(over: 5 << 20),
            expected: "document of at most 5 MiB", meaning: "The document is larger than 5 MiB",
            example: "6 MB in `photo`", remedy: "store the large value elsewhere", source: "`ditto-size`"),
        EngineRule(
            .anyType, of: .any, .lostValue,
            if: .types(
                [.undefined, .symbol, .dbPointer, .minKey, .maxKey, .javascriptWithScope], at: .anywhere),
            expected: "type that engines have",
            meaning: "The value has a type that engines do not have, or turn into null: undefined, symbol, DBPointer, "
                + "MinKey, MaxKey, code with scope", example: "`{x: MinKey}`", remedy: "`unset`, or `expression`",
            source: "`powersync-nonfinite`, `objectbox-deprecated`"),
        EngineRule(
            .anyNonfinite, of: .any, .lostValue, if: .nonFinite(at: .nested), expected: "finite number",
            meaning: "A number inside an object or array is NaN or infinite, which JSON writes as null",
            example: "`{prices: [NaN]}`", remedy: "`unset`, or `expression`", source: "`powersync-nonfinite`"),
        EngineRule(
            .anyLegacyUUID, of: .any, .lostValue, isCertain: false, if: .legacyUUID, expected: "UUID of subtype 4",
            meaning: "The value is binary data of subtype 3 and 16 bytes: a UUID of an old driver, and plain bytes for "
                + "every engine", example: "subtype 3 in `owner`", remedy: "`convert` to `uuid` with `legacy`",
            source: "`powersync-binary`"),
    ]

    /// The dates of the years 0 to 9999, in milliseconds since 1970.
    private static let fourDigitYears: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
}
