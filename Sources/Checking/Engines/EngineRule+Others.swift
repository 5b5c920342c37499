extension EngineRule {
    /// ObjectBox Sync converts each document to an object of a model that the operator states.
    static let objectbox: [EngineRule] = [
        .init(
            .objectboxSize, .halts, isCertain: false, .over(.size, 16_776_192), "document of at most 16 MiB less 1 KiB",
            "\(smaller), or set `skipOversizedDocumentsToMongoDb`"),
        .init(
            .objectboxID, .dropped, .id(otherThan: [.objectId, .string, .binData, .int, .long]),
            "objectId, UUID, string, binData, int or long", newID),
        .init(
            .objectboxConvert, .lostValue, .property, "value of the property's type",
            "`convert`, or another type in the model"),
        .init(
            .objectboxArray, .lostValue, .has(.elements), "array of the property's elements",
            "`convert` with `\"tags[]\"`, or a Flex or JSON property"),
        .init(
            .objectboxDeprecated, .lostValue, .value(.always, [.undefined, .dbPointer, .symbol]),
            "type that is not deprecated", "`unset`, or `expression`"),
        .init(.objectboxNull, .changed, .has(.absentList), "list", "none; `default` with `[]` to store an empty list"),
    ]

    /// Ditto's MongoDB connector copies documents as JSON or as extended JSON.
    static let ditto: [EngineRule] = [
        .init(
            .dittoID, .dropped, .id(otherThan: .all.subtracting([.null, .undefined])), "_id that is not null", newID),
        .init(
            .dittoIDSize, .dropped, isCertain: false, .over(.idSize, 256), "_id of at most 256 bytes",
            "map another field, or \(newID)"),
        .init(
            .dittoSize, .dropped, isCertain: false, .over(.size, 5 << 20), "document of at most 5 MiB",
            "store the large value as an attachment"),
        .init(
            .dittoTypes, .changed, .value(.always, [.decimal, .long, .date, .objectId]), "type of JSON",
            "none; `mode: ejson` keeps the types"),
    ]

    /// RxDB's replication plugin reads documents in the order of their primary key, and follows the change stream.
    static let rxdb: [EngineRule] = [
        .init(
            .rxdbID, .halts, .id(otherThan: [.string, .symbol]), "string",
            "a string field with a unique index as the primary key of the RxDB schema"),
        .init(.rxdbRead, .halts, .has(.unreadable), "document that js-bson reads", "write the value again"),
        .init(
            .rxdbSchema, .halts, isCertain: false, .has(.schema), "document that fits the schema",
            "as for the document's other findings"),
        .init(.rxdbReserved, .lostValue, .names(["_deleted", "_meta", "_attachments"]), "no such field", "`rename`"),
    ]

    /// Couchbase Sync Gateway receives documents that are copied from MongoDB to Couchbase.
    static let couchbase: [EngineRule] = [
        .init(
            .couchbaseReserved, .dropped,
            .names(
                ["_sync", "_rev", "_cv", "_deleted", "_attachments", "_revisions", "_exp", "_purged", "_removed"],
                prefix: "_sync_"), "no such field", "`rename`"),
        .init(.couchbaseID, .dropped, .over(.idSize, 250), "_id of at most 250 bytes", newID),
        .init(.couchbaseIDText, .dropped, .has(.idText), "_id whose text no other _id has", oneNewID),
        .init(.couchbaseSize, .dropped, .over(.rowBytes, 20 << 20), "document of at most 20 MiB as JSON", smaller),
    ]

    /// The rules of ``Engine/any``: conditions that cause trouble with at least one sync engine.
    static let any: [EngineRule] = [
        .init(.anyDepth, .halts, .over(.depth, 20), "at most 20 levels below a field", "flatten the value"),
        .init(.anyDate, .halts, .value(javaScriptDates, .date), "date within 8.64e15 ms of 1970", javaScriptRemedy),
        .init(
            .anyYear, .halts, isCertain: false, .value(fourDigitYears, .date), "date of the years 0 to 9999",
            limitingDates(from: #""0000-01-01T00:00:00Z""#, to: #""9999-12-31T23:59:59.999Z""#)),
        .init(.anyIDText, .dropped, .has(.idText), "_id whose text no other _id has", oneNewID),
        .init(.anySize, .dropped, .over(.size, 15 << 20), "document of at most 15 MiB", smaller),
        .init(.anyLarge, .dropped, isCertain: false, .over(.size, 5 << 20), "document of at most 5 MiB", smaller),
        .init(
            .anyType, .lostValue,
            .value(.always, [.undefined, .symbol, .dbPointer, .minKey, .maxKey, .javascriptWithScope]),
            "type that engines have", "`unset`, or `expression`"),
        .init(
            .anyNonfinite, .lostValue, .value(.nonFinite, .double, at: .nested), "finite number",
            "`unset`, or `expression`"),
        .init(
            .anyLegacyUUID, .lostValue, isCertain: false, .value(.legacyUUID, .binData), "UUID of subtype 4",
            "`convert` to `uuid` with `legacy`"),
    ]

    /// The test for dates outside the years 0 to 9999.
    private static let fourDigitYears = Test.dateOutside(-62_167_219_200_000, 253_402_300_799_999)
}
