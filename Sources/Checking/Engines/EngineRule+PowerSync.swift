/// The table of the rules of all sync engines, with one row for each rule.
extension EngineRule {
    /// The rules of all engines.
    ///
    /// Within an engine, the rules with the worst outcome come first.
    public static let all: [EngineRule] = powersync + objectbox + ditto + rxdb + couchbase + any

    /// Returns the rule with this code; `nil` if no engine has such a rule.
    public static func named(_ code: RuleCode) -> EngineRule? { byCode[code] }

    private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

    /// Returns the rules of one engine; none for Device Sync, whose rules come from its schemas.
    static func all(of engine: Engine) -> [EngineRule] { all.filter { $0.engine == engine } }
}

/// The rules of PowerSync, which copies each top-level field to a column of SQLite, as text, integer or real.
extension EngineRule {
    /// The dates that a JavaScript `Date` can hold, in milliseconds since 1970.
    static let javaScriptDates: ClosedRange<Int64> = -8_640_000_000_000_000...8_640_000_000_000_000

    /// Returns a remedy: a step that replaces each date outside of a range with the nearest bound of the range.
    ///
    /// The step keeps values that are not dates; `$min` and `$max` alone would replace them.
    static func limitingDates(from low: String, to high: String) -> String {
        "`unset`, or `expression: {field: at, value: {$max: [{$min: [$at, {$date: \(high)}]}, {$date: \(low)}]}, "
            + "when: {$eq: [{$type: $at}, date]}}`"
    }

    private static let reader = "powersync-service: modules/module-mongodb/src/replication/bufferToSqlite.ts"
    private static let storage = "powersync-service: modules/module-mongodb-storage/src/storage/implementation"
    private static let newID = "insert the document again under another `_id`"
    private static let large = "store the large value elsewhere, or leave its field out of the Sync Streams"
    private static let types = "powersync-docs: sync/types.mdx"

    static let powersync: [EngineRule] = [
        EngineRule(
            .powersyncDepth, of: .powersync, .halts, if: .depth(over: 20), expected: "at most 20 levels below a field",
            meaning: "An object or array is nested deeper than 20 levels below its top-level field. The replicator "
                + "throws, starts over, and meets the document again",
            example: "22 objects, each in the one before it",
            remedy: "flatten the value, or move it to a collection "
                + "that is not synced", source: "\(reader), `NESTED_DEPTH_LIMIT`"),
        EngineRule(
            .powersyncDate, of: .powersync, .halts, if: .dates(outside: javaScriptDates),
            expected: "date within 8.64e15 ms of 1970",
            meaning: "A date is beyond what a JavaScript `Date` holds, 8.64e15 ms before or after 1970. The replicator "
                + "throws, starts over, and meets the document again",
            example: "`Date(9223372036854775807)`",
            remedy: limitingDates(
                from: #"{$numberLong: "-8640000000000000"}"#, to: #"{$numberLong: "8640000000000000"}"#),
            source: "\(reader), `appendDateTimeToWriter`"),
        EngineRule(
            .powersyncBinaryLength, of: .powersync, .halts, if: .binaryLength,
            expected: "binary data that holds the length it states",
            meaning:
                "Binary data of subtype 2 states a length that its bytes do not hold. The replicator throws, starts "
                + "over, and meets the document again",
            example: "subtype 2 in `photo`, which states 100 bytes and has 3", remedy: "`unset`",
            source: "\(reader), `binaryDataSlice`"),
        EngineRule(
            .powersyncIDRead, of: .powersync, .halts, if: .unreadableID, expected: "_id that js-bson reads and writes",
            meaning: "The replicator reads the `_id` with js-bson 6.10.4, and writes it as a key. That throws at text "
                + "that is not UTF-8, a regular expression that JavaScript does not compile, an object with a field "
                + "`_bsontype`, binary data of subtype 2 with a wrong length or of subtype 9 that is no vector, and an "
                + "`_id` of subtype 4 without 16 bytes. It starts over, and meets the document again",
            example: "`{_id: {a: /(?i)foo/}}`", remedy: newID,
            source: "\(reader), `parseDocumentId`; js-bson: src/parser/deserializer.ts, src/parser/serializer.ts"),
        EngineRule(
            .powersyncIDNull, of: .powersync, .halts, if: .nullID, expected: "_id that is not null",
            meaning: "The `_id` is null. As the last document that a query of the snapshot returns, for example as the "
                + "only one, it makes the snapshot start over for ever. Before other documents, it is dropped",
            example: "`{_id: null}`", remedy: newID,
            source: "powersync-service: modules/module-mongodb/src/replication/MongoSnapshotQuery.ts, `nextChunk`"),
        EngineRule(
            .powersyncRow, of: .powersync, .halts, if: .rowBytes(over: (16 << 20) - 512),
            expected: "row of less than 16 MiB of UTF-8",
            meaning: "The row of JSON has more than 16 MiB of UTF-8, less 512 bytes for what is stored with it, but is "
                + "within the limit of `powersync-size`. MongoDB refuses to store it, and the replicator tries again "
                + "and again. Postgres as storage, or an object store, takes it. The row is that of "
                + "`SELECT _id AS id, *`",
            example: "16 MB of `é` in `log`", remedy: large,
            source: "\(storage)/v1/models.ts, `serializeBucketDataV1`"),
        EngineRule(
            .powersyncSize, of: .powersync, .dropped, if: .rowUnits(over: 15 << 20), expected: "row of at most 15 MiB",
            meaning: "The row of JSON has more than 15 Mi UTF-16 units, whatever the size of the document: the row is "
                + "removed. The row is that of `SELECT _id AS id, *`",
            example: "16 MB of ASCII in `log`; 3 MB of control characters", remedy: large,
            source: "\(storage)/common/PersistedBatch.ts, `MAX_ROW_SIZE`"),
        EngineRule(
            .powersyncID, of: .powersync, .dropped,
            if: .id(otherThan: .all.subtracting([.minKey, .maxKey]), onlyUUIDs: true), expected: "_id that has a text",
            meaning: "The `_id` is MinKey, MaxKey, or binary data that is no UUID. All such documents become one "
                + "row with an empty id, of which clients get an arbitrary one",
            example: "`{_id: MinKey}`", remedy: newID,
            source: "powersync-service: packages/sync-rules/src/cast.ts, `idFromData`"),
        EngineRule(
            .powersyncIDFalsy, of: .powersync, .dropped, if: .falsyID, expected: "_id that is true in JavaScript",
            meaning: "The `_id` is 0, NaN, false or an empty text. The storage tests whether there is an `_id` with "
                + "`if (afterId)`, takes these for none, and stores no row",
            example: "`{_id: 0}`", remedy: newID, source: "\(storage)/MongoBucketBatch.ts, `saveOperation`"),
        EngineRule(
            .powersyncIDText, of: .powersync, .dropped, if: .idText, expected: "_id whose text no other _id has",
            meaning:
                "Another `_id` of the collection has the same text, so that their documents become one row. One of "
                + "them arrives, and it is not known which",
            example: "`{_id: 1}` and `{_id: \"1\"}`", remedy: "insert one of the two again under another `_id`",
            source: "powersync-docs: sync/advanced/client-id.mdx; powersync-service: packages/sync-rules/src/cast.ts"),
        EngineRule(
            .powersyncColumns, of: .powersync, .lostValue, if: .fields(over: 1_999),
            expected: "at most 1,999 fields",
            meaning: "The document has more than 1,999 top-level fields besides the `_id`, and a client's table has no "
                + "more columns", example: "a field for each day of six years",
            remedy: "move the fields into an object", source: "powersync-docs: resources/performance-and-limits.mdx"),
        EngineRule(
            .powersyncType, of: .powersync, .lostValue, if: .column, expected: "value that fits the column",
            meaning: "The value does not fit its column in the clients' schema, and SQLite's CAST changes it: text "
                + "that is no number becomes 0 or the number that it begins with, a fraction is cut off in an "
                + "`integer` column, a decimal NaN or Infinity becomes 0 in a `real` column, and a timestamp from "
                + "2038 on, which has more than 63 bits, becomes 9223372036854775807. The columns follow from the "
                + "schema, or from the setting `columns`",
            example: "`{age: \"unknown\"}` in an `integer` column", remedy: "`convert`, or another type of column",
            source: "powersync-docs: maintenance-ops/implementing-schema-changes.mdx"),
        EngineRule(
            .powersyncBinary, of: .powersync, .lostValue, if: .binary, expected: "UUID of subtype 4",
            meaning: "The value is binary data that is no UUID of subtype 4. A top-level field does not arrive unless "
                + "the Sync Streams convert it to text; inside an object or array, the value is left out",
            example: "subtype 0 in `photo`; a UUID of subtype 3",
            remedy: "`convert` to `uuid` with `legacy`, or `base64()` in the Sync Streams for a top-level field",
            source: "\(types); \(reader)"),
        EngineRule(
            .powersyncName, of: .powersync, .lostValue, if: .lostNames, expected: "name that the row keeps",
            meaning: "The top-level field has the name `__proto__`, which sets no field of a JavaScript object, or "
                + "another top-level field has its name, and only the last one arrives",
            example: "`{__proto__: 1}`", remedy: "`rename`; write a document with a repeated name again",
            source: "\(reader), `bufferToSqlite`"),
        EngineRule(
            .powersyncText, of: .powersync, .lostValue, if: .text, expected: "text that is UTF-8",
            meaning: "A text, or the name of a field, is not UTF-8: U+FFFD arrives in place of each wrong byte. No "
                + "column has such a name, and two of them may become one",
            example: "Latin-1 in `name`", remedy: "write the text again as UTF-8",
            source: "\(reader), `readBsonString`, `readCString`"),
        EngineRule(
            .powersyncNonfinite, of: .powersync, .lostValue,
            if: .nonFinite(at: .anywhere), .types([.undefined, .minKey, .maxKey], at: .anywhere),
            expected: "finite number",
            meaning: "The value has the type undefined, MinKey or MaxKey, or is NaN or infinite inside an object or "
                + "array: it arrives as null. At the top level, NaN and the infinities are written into the row "
                + "as bare "
                + "`NaN` and `Infinity`, which is no JSON: clients that parse the row strictly get nothing of it",
            example: "`{price: NaN}`", remedy: "`unset`, or `expression`",
            source: "\(types); \(reader); powersync-service: packages/jsonbig/src/json.ts, `numberStringifier`"),
        EngineRule(
            .powersyncMapping, of: .powersync, .changed,
            if: .types(
                [.decimal, .date, .objectId, .bool, .object, .array, .regex, .javascript, .timestamp], at: .top),
            expected: "text, integer or real",
            meaning: "The value arrives as another type: decimal, date, ObjectId and UUID as text, a boolean as 0 or "
                + "1, an object, an array, a regular expression and code as JSON text, a timestamp as an integer, and "
                + "text that is a number as that number in an `integer` or `real` column",
            example: "`{done: true}` arrives as 1", remedy: "none; read it so in the client", source: types),
    ]
}
