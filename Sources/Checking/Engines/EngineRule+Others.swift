/// The rules of ObjectBox Sync, which converts each document to an object of a model that the operator states.
extension EngineRule {
    static let objectbox: [EngineRule] = [
        .init(
            .objectboxSize, .halts, isCertain: false, if: .size(over: 16_776_192),
            expected: "document of at most 16 MiB less 1 KiB",
            remedy: "store the large value elsewhere, or set `skipOversizedDocumentsToMongoDb`"),
        .init(
            .objectboxID, .dropped, if: .id(otherThan: [.objectId, .string, .binData, .int, .long]),
            expected: "objectId, UUID, string, binData, int or long", remedy: newID),
        .init(
            .objectboxConvert, .lostValue, if: .property, expected: "value of the property's type",
            remedy: "`convert`, or another type in the model"),
        .init(
            .objectboxArray, .lostValue, if: .elements, expected: "array of the property's elements",
            remedy: "`convert` with `\"tags[]\"`, or a Flex or JSON property"),
        .init(
            .objectboxDeprecated, .lostValue, if: .types([.undefined, .dbPointer, .symbol], at: .anywhere),
            expected: "type that is not deprecated", remedy: "`unset`, or `expression`"),
        .init(
            .objectboxNull, .changed, if: .absentList, expected: "list",
            remedy: "none; `default` with `[]` to store an empty list"),
    ]
}

/// The rules of Ditto, whose MongoDB connector copies documents as JSON or as extended JSON.
extension EngineRule {
    static let ditto: [EngineRule] = [
        .init(
            .dittoID, .dropped, if: .id(otherThan: .all.subtracting([.null, .undefined])),
            expected: "_id that is not null", remedy: newID),
        .init(
            .dittoIDSize, .dropped, isCertain: false, if: .idSize(over: 256), expected: "_id of at most 256 bytes",
            remedy: "map another field, or \(newID)"),
        .init(
            .dittoSize, .dropped, isCertain: false, if: .size(over: 5 << 20), expected: "document of at most 5 MiB",
            remedy: "store the large value as an attachment"),
        .init(
            .dittoTypes, .changed, if: .types([.decimal, .long, .date, .objectId], at: .anywhere),
            expected: "type of JSON", remedy: "none; `mode: ejson` keeps the types"),
    ]
}

/// The rules of RxDB, whose replication plugin reads documents in the order of their primary key, and follows the
/// change stream.
extension EngineRule {
    static let rxdb: [EngineRule] = [
        .init(
            .rxdbID, .halts, if: .id(otherThan: [.string, .symbol]), expected: "string",
            remedy: "a string field with a unique index as the primary key of the RxDB schema"),
        .init(
            .rxdbRead, .halts, if: .unreadable, expected: "document that js-bson reads", remedy: "write the value again"
        ),
        .init(
            .rxdbSchema, .halts, isCertain: false, if: .schema, expected: "document that fits the schema",
            remedy: "as for the document's other findings"),
        .init(
            .rxdbReserved, .lostValue, if: .names(["_deleted", "_meta", "_attachments"]), expected: "no such field",
            remedy: "`rename`"),
    ]
}

/// The rules of Couchbase Sync Gateway, for documents that are copied from MongoDB to Couchbase.
extension EngineRule {
    static let couchbase: [EngineRule] = [
        .init(
            .couchbaseReserved, .dropped,
            if: .names(["_sync", "_rev", "_deleted", "_attachments", "_revisions", "_exp", "_purged", "_removed"]),
            expected: "no such field", remedy: "`rename`"),
        .init(.couchbaseID, .dropped, if: .idSize(over: 250), expected: "_id of at most 250 bytes", remedy: newID),
        .init(.couchbaseIDText, .dropped, if: .idText, expected: "_id whose text no other _id has", remedy: oneNewID),
        .init(
            .couchbaseSize, .dropped, if: .rowBytes(over: 20 << 20), expected: "document of at most 20 MiB as JSON",
            remedy: "store the large value elsewhere"),
    ]
}

/// The rules of ``Engine/any``: conditions that cause trouble with at least one sync engine.
extension EngineRule {
    static let any: [EngineRule] = [
        .init(
            .anyDepth, .halts, if: .depth(over: 20), expected: "at most 20 levels below a field",
            remedy: "flatten the value"),
        .init(
            .anyDate, .halts, if: .dates(outside: javaScriptDates), expected: "date within 8.64e15 ms of 1970",
            remedy: javaScriptRemedy),
        .init(
            .anyYear, .halts, isCertain: false, if: .dates(outside: fourDigitYears),
            expected: "date of the years 0 to 9999",
            remedy: limitingDates(from: #""0000-01-01T00:00:00Z""#, to: #""9999-12-31T23:59:59.999Z""#)),
        .init(.anyIDText, .dropped, if: .idText, expected: "_id whose text no other _id has", remedy: oneNewID),
        .init(
            .anySize, .dropped, if: .size(over: 15 << 20), expected: "document of at most 15 MiB",
            remedy: "store the large value elsewhere"),
        .init(
            .anyLarge, .dropped, isCertain: false, if: .size(over: 5 << 20), expected: "document of at most 5 MiB",
            remedy: "store the large value elsewhere"),
        .init(
            .anyType, .lostValue,
            if: .types([.undefined, .symbol, .dbPointer, .minKey, .maxKey, .javascriptWithScope], at: .anywhere),
            expected: "type that engines have", remedy: "`unset`, or `expression`"),
        .init(
            .anyNonfinite, .lostValue, if: .nonFinite(at: .nested), expected: "finite number",
            remedy: "`unset`, or `expression`"),
        .init(
            .anyLegacyUUID, .lostValue, isCertain: false, if: .legacyUUID, expected: "UUID of subtype 4",
            remedy: "`convert` to `uuid` with `legacy`"),
    ]

    /// The dates of the years 0 to 9999, in milliseconds since 1970.
    private static let fourDigitYears: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
}
