import BSON
import Importing
import Testing

/// Tests the translation of regular expressions from JavaScript, as in JSON Schema, to PCRE, as in MongoDB.
@Suite struct PatternTranslationTests {
    @Test(arguments: [
        (#"^[a-z0-9_-]{3,16}"#, #"^[a-z0-9_-]{3,16}"#), (#"\d\w\b\t\/\-"#, #"\d\w\b\t\/\-"#),
        (#"\u00e4"#, #"\x{e4}"#), (#"\u{1F600}"#, #"\x{1F600}"#), (#"\ud83d\ude00"#, #"\x{1f600}"#),
        (#"[\u00e4-\u00fc]"#, #"[\x{e4}-\x{fc}]"#), ("[^]", #"[\s\S]"#), ("a[]", "a(?!)"),
        (#"[\w-.]"#, #"[\w\-.]"#), (#"[.-\w]"#, #"[.\-\w]"#), (#"[[a]"#, #"[\[a]"#), (#"\v\i"#, #"\x0Bi"#),
        (#"\p{Letter}\p{Lu}\P{Script=Greek}\p{gc=Nd}"#, #"\p{L}\p{Lu}\P{Greek}\p{Nd}"#),
        (#"(?<year>\d{4})-\k<year>"#, #"(?<year>\d{4})-\k<year>"#), ("ä+", "ä+"),
    ]) func aPatternIsSpelledAsPCRESpellsIt(_ pattern: String, _ expected: String) throws {
        let quoted = try BSONValue.string(pattern).extendedJSON(.relaxed)
        let schema = #"{"pattern": \#(quoted)}"#
        #expect(try field(schema) == ["pattern": .string(expected)])
        #expect(try notes(schema) == [])
    }

    @Test(arguments: [
        ("^a$", ["$ also matches before a line break at the end"]),
        (#"\s"#, ["\\s and \\S know only the blanks of ASCII"]), (#"[$.]"#, []), (#"\$\."#, []),
        (#"\Aa\z"#, ["\\A is the beginning of the text", "\\z is the end of the text"]),
    ]) func differencesAreNoted(_ pattern: String, _ differences: [String]) throws {
        let quoted = try BSONValue.string(pattern).extendedJSON(.relaxed)
        let schema = #"{"pattern": \#(quoted)}"#
        #expect(try field(schema) == ["pattern": .string(pattern)])
        #expect(try notes(schema) == differences.map { "decision: in a pattern, \($0)" })
    }

    @Test(arguments: [#"(?<=a+)b"#, #"(a"#, #"\p{Emoji}"#, #"\p{Script=Adlam}"#, #"\ud83d"#, "a\u{0}b"])
    func aPatternThatMongoDBCannotUseIsLeftOut(_ pattern: String) throws {
        let quoted = try BSONValue.string(pattern).extendedJSON(.relaxed)
        let schema = #"{"type": "string", "pattern": \#(quoted)}"#
        #expect(try field(schema) == ["bsonType": "string"])
        #expect(try notes(schema).first?.hasPrefix("warning: the pattern ") == true)
    }

    /// MongoDB matches the names of fields byte by byte.
    ///
    /// An expression that has to match whole characters therefore begins with `(*UTF)`.
    @Test(arguments: [
        ("^(.*)$", "^(.*)$"), ("^a.$", "(*UTF)^a.$"), ("[^a]+", "[^a]+"), ("[^a]b", "(*UTF)[^a]b"),
        ("^ä$", "(*UTF)^ä$"), (#"^\W+$"#, #"^\W+$"#), (#"^\W$"#, #"(*UTF)^\W$"#), ("^[a-z]{2}$", "^[a-z]{2}$"),
        (#"^[\W+]$"#, #"(*UTF)^[\W+]$"#), (#"^[\D*]$"#, #"(*UTF)^[\D*]$"#), (#"^[a\S+]+$"#, #"(*UTF)^[a\S+]+$"#),
        (#"[\d+]\W+"#, #"[\d+]\W+"#),
    ]) func aPatternForNamesMatchesCharacters(_ pattern: String, _ expected: String) throws {
        let quoted = try BSONValue.string(pattern).extendedJSON(.relaxed)
        let schema = #"{"patternProperties": {\#(quoted): {"type": "null"}}}"#
        #expect(try field(schema)?.document?["patternProperties"] == .object([expected: ["bsonType": "null"]]))
    }

    @Test func withoutAPatternForNamesTheOtherNamesAreAllowed() throws {
        let schema = #"{"patternProperties": {"\\p{Emoji}": {"type": "null"}}, "additionalProperties": false}"#
        #expect(try field(schema) == bson("{}"))
        #expect(try notes(schema).count == 2)
        #expect(
            try field(#"{"patternProperties": {"\\p{Emoji}": {}}, "unevaluatedProperties": false}"#) == bson("{}"))
    }
}
