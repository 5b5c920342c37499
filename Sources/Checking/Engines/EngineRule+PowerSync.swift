/// The table of the rules of all sync engines, with one row for each rule.
extension EngineRule {
    /// The rules of all engines.
    ///
    /// Within an engine, the rules with the worst outcome come first.
    public static let all: [EngineRule] = [
        (.powersync, powersync), (.objectbox, objectbox), (.ditto, ditto), (.rxdb, rxdb), (.couchbase, couchbase),
        (.any, any),
    ].flatMap { (engine: Engine, rules: [EngineRule]) in
        rules.map { rule in
            var rule = rule
            rule.engine = engine
            return rule
        }
    }

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

    static let javaScriptRemedy = limitingDates(
        from: #"{$numberLong: "-8640000000000000"}"#, to: #"{$numberLong: "8640000000000000"}"#)
    static let newID = "insert the document again under another `_id`"
    static let oneNewID = "insert one of the two again under another `_id`"
    private static let large = "store the large value elsewhere, or leave its field out of the Sync Streams"

    static let powersync: [EngineRule] = [
        .init(
            .powersyncDepth, .halts, if: .depth(over: 20), expected: "at most 20 levels below a field",
            remedy: "flatten the value, or move it to a collection that is not synced"),
        .init(
            .powersyncDate, .halts, if: .dates(outside: javaScriptDates), expected: "date within 8.64e15 ms of 1970",
            remedy: javaScriptRemedy),
        .init(
            .powersyncBinaryLength, .halts, if: .binaryLength, expected: "binary data that holds the length it states",
            remedy: "`unset`"),
        .init(
            .powersyncIDRead, .halts, if: .unreadableID, expected: "_id that js-bson reads and writes", remedy: newID),
        .init(.powersyncIDNull, .halts, if: .nullID, expected: "_id that is not null", remedy: newID),
        .init(
            .powersyncRow, .halts, if: .rowBytes(over: (16 << 20) - 512), expected: "row of less than 16 MiB of UTF-8",
            remedy: large),
        .init(
            .powersyncSize, .dropped, if: .rowUnits(over: 15 << 20), expected: "row of at most 15 MiB", remedy: large),
        .init(
            .powersyncID, .dropped, if: .id(otherThan: .all.subtracting([.minKey, .maxKey]), onlyUUIDs: true),
            expected: "_id that has a text", remedy: newID),
        .init(.powersyncIDFalsy, .dropped, if: .falsyID, expected: "_id that is true in JavaScript", remedy: newID),
        .init(.powersyncIDText, .dropped, if: .idText, expected: "_id whose text no other _id has", remedy: oneNewID),
        .init(
            .powersyncColumns, .lostValue, if: .fields(over: 1_999), expected: "at most 1,999 fields",
            remedy: "move the fields into an object"),
        .init(
            .powersyncType, .lostValue, if: .column, expected: "value that fits the column",
            remedy: "`convert`, or another type of column"),
        .init(
            .powersyncBinary, .lostValue, if: .binary, expected: "UUID of subtype 4",
            remedy: "`convert` to `uuid` with `legacy`, or `base64()` in the Sync Streams for a top-level field"),
        .init(
            .powersyncName, .lostValue, if: .lostNames, expected: "name that the row keeps",
            remedy: "`rename`; write a document with a repeated name again"),
        .init(
            .powersyncText, .lostValue, if: .text, expected: "text that is UTF-8",
            remedy: "write the text again as UTF-8"),
        .init(
            .powersyncNonfinite, .lostValue, if: .nonFinite(at: .anywhere),
            .types([.undefined, .minKey, .maxKey], at: .anywhere), expected: "finite number",
            remedy: "`unset`, or `expression`"),
        .init(
            .powersyncMapping, .changed,
            if: .types(
                [.decimal, .date, .objectId, .bool, .object, .array, .regex, .javascript, .timestamp], at: .top),
            expected: "text, integer or real", remedy: "none; read it so in the client"),
    ]
}
