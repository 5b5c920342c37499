/// The table of the rules of all sync engines, with one row for each rule.
extension EngineRule {
    /// The rules of all engines.
    ///
    /// Within an engine, the rules with the worst outcome come first.
    public static let all = powersync + objectbox + ditto + rxdb + couchbase + any

    /// Returns the rule with this code; `nil` if no engine has such a rule.
    public static func named(_ code: RuleCode) -> EngineRule? { code.rule.flatMap { byRule[$0] } }

    /// The rules of all engines, by their names in a finding.
    static let byRule = Dictionary(uniqueKeysWithValues: all.map { ($0.rule, $0) })

    /// Returns the rules of one engine; none for Device Sync, whose rules come from its schemas.
    static func all(of engine: Engine) -> [EngineRule] { all.filter { $0.engine == engine } }
}

/// The rules of PowerSync, which copies each top-level field to a column of SQLite, as text, integer or real.
extension EngineRule {
    /// The test for dates that a JavaScript `Date` cannot hold.
    static let javaScriptDates = Test.dateOutside(-8_640_000_000_000_000, 8_640_000_000_000_000)

    /// Returns a remedy: a step that replaces each date outside of a range with the nearest bound of the range.
    ///
    /// The step keeps values that are not dates; `$min` and `$max` alone would replace them.
    static func limitingDates(from low: String, to high: String) -> String {
        "`unset`, or `expression: {field: at, value: {$max: [{$min: [$at, {$date: \(high)}]}, {$date: \(low)}]}, "
            + "when: {$eq: [{$type: $at}, date]}}`"
    }

    static let javaScriptRemedy = limitingDates(
        from: #"{$numberLong: "-8640000000000000"}"#, to: #"{$numberLong: "8640000000000000"}"#)
    static let newID = "insert the document again under another `_id`"
    static let oneNewID = "insert one of the two again under another `_id`"
    static let smaller = "store the large value elsewhere"
    private static let large = "\(smaller), or leave its field out of the Sync Streams"

    static let powersync: [EngineRule] = [
        .init(
            .powersyncDepth, .halts, .over(.depth, 20), "at most 20 levels below a field",
            "flatten the value, or move it to a collection that is not synced"),
        .init(
            .powersyncDate, .halts, .value(javaScriptDates, .date), "date within 8.64e15 ms of 1970", javaScriptRemedy),
        .init(
            .powersyncBinaryLength, .halts, .value(.wrongLength, .binData),
            "binary data that holds the length it states", "`unset`"),
        .init(.powersyncIDRead, .halts, .has(.unreadableID), "_id that js-bson reads and writes", newID),
        .init(.powersyncIDNull, .halts, .has(.nullID), "_id that is not null", newID),
        .init(.powersyncRow, .halts, .over(.rowBytes, (16 << 20) - 512), "row of less than 16 MiB of UTF-8", large),
        .init(.powersyncSize, .dropped, .over(.rowUnits, 15 << 20), "row of at most 15 MiB", large),
        .init(
            .powersyncID, .dropped, .id(otherThan: .all.subtracting([.minKey, .maxKey]), onlyUUIDs: true),
            "_id that has a text", newID),
        .init(.powersyncIDFalsy, .dropped, .has(.falsyID), "_id that is true in JavaScript", newID),
        .init(.powersyncIDText, .dropped, .has(.idText), "_id whose text no other _id has", oneNewID),
        .init(
            .powersyncColumns, .lostValue, .over(.fields, 1_999), "at most 1,999 fields",
            "move the fields into an object"),
        .init(
            .powersyncType, .lostValue, .column, "value that fits the column", "`convert`, or another type of column"),
        .init(
            .powersyncBinary, .lostValue, .value(.notUUID, .binData), "UUID of subtype 4",
            "`convert` to `uuid` with `legacy`, or `base64()` in the Sync Streams for a top-level field"),
        .init(
            .powersyncName, .lostValue, .has(.lostNames), "name that the row keeps",
            "`rename`; write a document with a repeated name again"),
        .init(
            .powersyncText, .lostValue, .value(.notUTF8, .texts), or: .has(.invalidName), "text that is UTF-8",
            "write the text again as UTF-8"),
        .init(
            .powersyncNonfinite, .lostValue, .value(.nonFinite, .double),
            or: .value(.always, [.undefined, .minKey, .maxKey]), "finite number", "`unset`, or `expression`"),
        .init(
            .powersyncMapping, .changed,
            .value(
                .always, [.decimal, .date, .objectId, .bool, .object, .array, .regex, .javascript, .timestamp], at: .top
            ), "text, integer or real", "none; read it so in the client"),
    ]
}
