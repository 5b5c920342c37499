package import BSON
package import Checking
import Proving
import ServerSchema

/// An engine rule to test, with a document that breaks the rule and a similar document that does not.
package struct EngineCase: Sendable, CustomStringConvertible {
    /// The code of the rule.
    package var code: String
    /// The document that breaks the rule.
    package var breaks: BSONDocument
    /// The finding that a check reports, as `path: expected / found`.
    package var finding: String
    /// A similar document that does not break the rule, for comparison with ``breaks``.
    package var fits: BSONDocument
    /// The columns of PowerSync's clients; empty if the rule does not depend on them.
    package var columns: [String: [String: EngineSettings.ColumnType]] = [:]
    /// Whether the clients have the model ``modelText``.
    package var hasModel = false

    package var description: String { code }

    /// The program's rule with this code; `nil` if the program has no such rule.
    package var rule: EngineRule? { EngineRule.named(RuleCode(rawValue: code)) }

    /// The settings of a check for the engine: the columns or the model of its clients.
    package var settings: EngineSettings {
        get throws {
            var settings = EngineSettings(rule?.engine ?? .any)
            settings.columns = columns
            if hasModel { settings.model = try ObjectBoxModel.parse(Self.modelText, path: "objectbox-model.json") }
            return settings
        }
    }

    /// A model of ObjectBox for the collection `Task`.
    package static let modelText = """
        {
            "modelVersion": 5,
            "entities": [
                {
                    "id": "1:1", "name": "Task", "flags": 2,
                    "properties": [
                        { "id": "1:1", "name": "id", "type": 6, "flags": 1 },
                        { "id": "2:2", "name": "age", "type": 5 },
                        { "id": "3:3", "name": "short", "type": 3 },
                        { "id": "4:4", "name": "tags", "type": 30 },
                        { "id": "5:5", "name": "owner", "type": 23, "externalType": 102 },
                        { "id": "6:6", "name": "notes", "type": 9, "externalType": 112 }
                    ]
                }
            ]
        }
        """
}

/// The columns of PowerSync's clients, in the cases of rules that need columns.
private let clientColumns: [String: [String: EngineSettings.ColumnType]] = [
    "Task": ["age": .integer, "price": .real]
]

private let uuid = BSONValue.binary(subtype: 4, bytes: Array(repeating: 7, count: 16))

/// Returns an object that contains an object, and so on, `levels` levels deep; the innermost object has one number.
private func nested(_ levels: Int) -> BSONValue {
    (0..<levels).reduce(["n": 1]) { value, _ in ["o": value] }
}

/// Returns a document of exactly `size` bytes, most of which are in one string.
private func document(ofSize size: Int) -> BSONDocument {
    let empty: BSONDocument = ["_id": "a", "s": ""]
    return ["_id": "a", "s": .string(String(repeating: "x", count: size - empty.bytes.count))]
}

private func fields(_ count: Int) -> BSONDocument {
    BSONDocument([("_id", "a")] + (0..<count).map { ("f\($0)", .int(1)) })
}

extension EngineCase {
    /// The cases: at least one for each rule that judges a document on its own, without a schema.
    package static let all: [EngineCase] = [
        EngineCase(
            code: "powersync-depth", breaks: ["_id": "a", "o": nested(21)],
            finding: "o: at most 20 levels below a field / object with more levels",
            fits: ["_id": "a", "o": nested(20)]),
        EngineCase(
            code: "powersync-date", breaks: ["_id": "a", "at": .date(milliseconds: 8_640_000_000_000_001)],
            finding: "at: date within 8.64e15 ms of 1970 / date out of range",
            fits: ["_id": "a", "at": [.date(milliseconds: -8_640_000_000_000_000)]]),
        EngineCase(
            code: "powersync-size", breaks: document(ofSize: 15 << 20 | 1),
            finding: "s: row of at most 15 MiB / string in a document that is larger as JSON",
            fits: document(ofSize: (15 << 20) - 100)),
        EngineCase(
            code: "powersync-size",
            breaks: ["_id": "a", "s": .string(String(repeating: "\u{1}", count: 3 << 20))],
            finding: "s: row of at most 15 MiB / string in a document that is larger as JSON",
            fits: ["_id": "a", "s": .string(String(repeating: "x", count: 3 << 20))]),
        EngineCase(
            code: "powersync-binary-length",
            breaks: ["_id": "a", "o": ["b": .binary(subtype: 2, bytes: [9, 0, 0, 0, 1])]],
            finding:
                "o.b: binary data that holds the length it states / binData of subtype 2 with a wrong length inside",
            fits: ["_id": "a", "o": ["b": .binary(subtype: 2, bytes: [1, 0, 0, 0, 1])]]),
        EngineCase(
            code: "powersync-id-read", breaks: ["_id": ["a": .regex(pattern: "(?i)foo", options: "")]],
            finding: "_id: _id that js-bson reads and writes / object that js-bson does not read or write",
            fits: ["_id": ["a": .regex(pattern: "(?i:foo)", options: "")]]),
        EngineCase(
            code: "powersync-id-read", breaks: ["_id": .invalidString([0x61, 0xFF])],
            finding: "_id: _id that js-bson reads and writes / string that js-bson does not read or write",
            fits: ["_id": "ü"]),
        EngineCase(
            code: "powersync-id-null", breaks: ["_id": nil], finding: "_id: _id that is not null / null",
            fits: ["_id": "null"]),
        EngineCase(
            code: "powersync-row",
            breaks: ["_id": "a", "s": .string(String(repeating: "é", count: (8 << 20) - 100))],
            finding: "s: row of less than 16 MiB of UTF-8 / string in a document that is larger as JSON",
            fits: ["_id": "a", "s": .string(String(repeating: "é", count: 7 << 20))]),
        EngineCase(
            code: "powersync-id-falsy", breaks: ["_id": 0],
            finding: "_id: _id that is true in JavaScript / int that JavaScript takes for false", fits: ["_id": "0"]),
        EngineCase(
            code: "powersync-id", breaks: ["_id": .minKey], finding: "_id: _id that has a text / minKey",
            fits: ["_id": uuid]),
        EngineCase(
            code: "powersync-id", breaks: ["_id": .binary(subtype: 0, bytes: [1])],
            finding: "_id: _id that has a text / binData of subtype 0, not 16 bytes", fits: ["_id": ["a": 1]]),
        EngineCase(
            code: "powersync-columns", breaks: fields(2_000), finding: "(root): at most 1,999 fields / more fields",
            fits: fields(1_999)),
        EngineCase(
            code: "powersync-type", breaks: ["_id": "a", "age": "unknown"],
            finding: "age: value that an integer column holds / string that is no such number",
            fits: ["_id": "a", "age": "12"], columns: clientColumns),
        EngineCase(
            code: "powersync-type", breaks: ["_id": "a", "age": 1.5],
            finding: "age: value that an integer column holds / double with a fraction",
            fits: ["_id": "a", "age": 2.0],
            columns: clientColumns),
        EngineCase(
            code: "powersync-type", breaks: ["_id": "a", "price": .long(1 << 53 | 1)],
            finding: "price: value that a real column holds / long that a double cannot hold",
            fits: ["_id": "a", "price": SampleValues.decimal("0.1")], columns: clientColumns),
        EngineCase(
            code: "powersync-type", breaks: ["_id": "a", "price": SampleValues.decimal("NaN")],
            finding: "price: value that a real column holds / decimal NaN",
            fits: ["_id": "a", "price": SampleValues.decimal("1E+3")], columns: clientColumns),
        EngineCase(
            code: "powersync-type", breaks: ["_id": "a", "age": .objectID(ObjectID(high: 1, low: 2))],
            finding: "age: value that an integer column holds / objectId", fits: ["_id": "a", "age": true],
            columns: clientColumns),
        EngineCase(
            code: "powersync-binary",
            breaks: ["_id": "a", "o": ["b": .binary(subtype: 3, bytes: Array(repeating: 1, count: 16))]],
            finding: "o.b: UUID of subtype 4 / binData of subtype 3, 16 bytes", fits: ["_id": "a", "o": ["b": uuid]]),
        EngineCase(
            code: "powersync-type", breaks: ["_id": "a", "age": .timestamp(1 << 63)],
            finding: "age: value that an integer column holds / timestamp beyond 64 bits",
            fits: ["_id": "a", "age": .timestamp(1 << 62)], columns: clientColumns),
        EngineCase(
            code: "powersync-name", breaks: ["_id": "a", "__proto__": 1],
            finding: "__proto__: name that the row keeps / int under __proto__",
            fits: ["_id": "a", "o": ["__proto__": 1]]),
        EngineCase(
            code: "powersync-text", breaks: ["_id": "a", "list": [.invalidString([0x61, 0xFF])]],
            finding: "list[]: text that is UTF-8 / string that is not UTF-8", fits: ["_id": "a", "list": ["ü"]]),
        EngineCase(
            code: "powersync-nonfinite", breaks: ["_id": "a", "list": [1, .double(.nan)]],
            finding: "list[]: finite number / double NaN",
            fits: ["_id": "a", "list": [1, .double(.greatestFiniteMagnitude)]]),
        EngineCase(
            code: "powersync-nonfinite", breaks: ["_id": "a", "x": .minKey], finding: "x: finite number / minKey",
            fits: ["_id": "a", "x": .null]),
        EngineCase(
            code: "powersync-mapping", breaks: ["_id": "a", "done": true],
            finding: "done: text, integer or real / bool",
            fits: ["_id": "a", "done": 1, "o": "b"]),
        EngineCase(
            code: "objectbox-size", breaks: document(ofSize: 16_776_193),
            finding: "s: document of at most 16 MiB less 1 KiB / string in a larger document",
            fits: document(ofSize: 16_776_192)),
        EngineCase(
            code: "objectbox-id", breaks: ["_id": 1.5],
            finding: "_id: objectId, UUID, string, binData, int or long / double", fits: ["_id": 1]),
        EngineCase(
            code: "objectbox-convert", breaks: ["_id": "a", "age": "seven"],
            finding: "age: value of the type Int / string", fits: ["_id": "a", "age": .long(7)], hasModel: true),
        EngineCase(
            code: "objectbox-convert", breaks: ["_id": "a", "short": 32_768],
            finding: "short: value of the type Short / int out of range", fits: ["_id": "a", "short": 32_767],
            hasModel: true),
        EngineCase(
            code: "objectbox-convert", breaks: ["_id": "a", "notes": "plain"],
            finding: "notes: value of the type String (JsonToNative) / string",
            fits: ["_id": "a", "notes": ["a": [1, "b"]], "owner": uuid], hasModel: true),
        EngineCase(
            code: "objectbox-array", breaks: ["_id": "a", "tags": ["a", 1]],
            finding: "tags[]: array of the property's elements / int", fits: ["_id": "a", "tags": ["a", "b"]],
            hasModel: true),
        EngineCase(
            code: "objectbox-deprecated", breaks: ["_id": "a", "o": ["s": .symbol("x")]],
            finding: "o.s: type that is not deprecated / symbol", fits: ["_id": "a", "o": ["s": .javascript("x")]]),
        EngineCase(
            code: "objectbox-null", breaks: ["_id": "a"], finding: "tags: list / missing",
            fits: ["_id": "a", "tags": []], hasModel: true),
        EngineCase(
            code: "ditto-id", breaks: ["_id": nil], finding: "_id: _id that is not null / null", fits: ["_id": ["a": 1]]
        ),
        EngineCase(
            code: "ditto-id-size", breaks: ["_id": .string(String(repeating: "x", count: 257))],
            finding: "_id: _id of at most 256 bytes / string that is longer",
            fits: ["_id": .string(String(repeating: "x", count: 256))]),
        EngineCase(
            code: "ditto-size", breaks: document(ofSize: 5 << 20 | 1),
            finding: "s: document of at most 5 MiB / string in a larger document", fits: document(ofSize: 5 << 20)),
        EngineCase(
            code: "ditto-types", breaks: ["_id": "a", "o": [.long(1)]], finding: "o[]: type of JSON / long",
            fits: ["_id": "a", "o": [1]]),
        EngineCase(
            code: "rxdb-id", breaks: ["_id": .objectID(ObjectID(high: 1, low: 2))], finding: "_id: string / objectId",
            fits: ["_id": "a"]),
        EngineCase(
            code: "rxdb-read", breaks: ["_id": "a", "o": ["s": .invalidString([0x61, 0xFF])]],
            finding: "(root): document that js-bson reads / object that js-bson does not read or write",
            fits: ["_id": "a", "o": ["s": "ü"]]),
        EngineCase(
            code: "rxdb-reserved", breaks: ["_id": "a", "_deleted": true], finding: "_deleted: no such field / bool",
            fits: ["_id": "a", "o": ["_deleted": true]]),
        EngineCase(
            code: "couchbase-reserved", breaks: ["_id": "a", "_rev": 3], finding: "_rev: no such field / int",
            fits: ["_id": "a", "_type": "task"]),
        EngineCase(
            code: "couchbase-id", breaks: ["_id": ["a": .string(String(repeating: "x", count: 243))]],
            finding: "_id: _id of at most 250 bytes / object that is longer",
            fits: ["_id": ["a": .string(String(repeating: "x", count: 242))]]),
        EngineCase(
            code: "couchbase-size", breaks: ["_id": "a", "s": .string(String(repeating: "\u{1}", count: 4 << 20))],
            finding: "s: document of at most 20 MiB as JSON / string in a document that is larger as JSON",
            fits: ["_id": "a", "s": .string(String(repeating: "\u{1}", count: 3 << 20))]),
        EngineCase(
            code: "any-depth", breaks: ["_id": "a", "o": [nested(20)]],
            finding: "o: at most 20 levels below a field / array with more levels",
            fits: ["_id": "a", "o": [nested(19)]]),
        EngineCase(
            code: "any-date", breaks: ["_id": "a", "at": .date(milliseconds: .min)],
            finding: "at: date within 8.64e15 ms of 1970 / date out of range",
            fits: ["_id": "a", "at": .date(milliseconds: 0)]),
        EngineCase(
            code: "any-year", breaks: ["_id": "a", "at": .date(milliseconds: 253_402_300_800_000)],
            finding: "at: date of the years 0 to 9999 / date out of range",
            fits: ["_id": "a", "at": .date(milliseconds: 253_402_300_799_999)]),
        EngineCase(
            code: "any-size", breaks: document(ofSize: 15 << 20 | 1),
            finding: "s: document of at most 15 MiB / string in a larger document", fits: document(ofSize: 15 << 20)),
        EngineCase(
            code: "any-large", breaks: document(ofSize: 5 << 20 | 1),
            finding: "s: document of at most 5 MiB / string in a larger document", fits: document(ofSize: 5 << 20)),
        EngineCase(
            code: "any-type", breaks: ["_id": "a", "o": ["x": .undefined]],
            finding: "o.x: type that engines have / undefined",
            fits: ["_id": "a", "o": ["x": .regex(pattern: "a", options: "")]]),
        EngineCase(
            code: "any-nonfinite", breaks: ["_id": "a", "o": ["x": .double(.infinity)]],
            finding: "o.x: finite number / double infinity", fits: ["_id": "a", "x": .double(.infinity)]),
        EngineCase(
            code: "any-legacy-uuid",
            breaks: ["_id": "a", "u": .binary(subtype: 3, bytes: Array(repeating: 1, count: 16))],
            finding: "u: UUID of subtype 4 / binData of subtype 3, 16 bytes",
            fits: ["_id": "a", "u": .binary(subtype: 3, bytes: [1])]),
    ]
}
