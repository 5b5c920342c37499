import BSON
import Jobs
import JobsSupport
import Testing

/// Tests the values that a job file states, such as the `value` of a `default`, and their types.
@Suite struct JobLiteralTests {
    @Test(arguments: plain + extended) func isRead(_ text: String, as value: BSONValue) throws {
        #expect(try Self.value(text) == value)
    }

    static let plain: [(String, BSONValue)] = [
        ("!!str 1.50", "1.50"), ("!!str true", "true"), ("!!str null", "null"), ("!!str 36", "36"), ("! 36", "36"),
        ("!!int \"36\"", 36), ("!!float 36", 36.0), ("!!bool \"true\"", true), ("!!null \"\"", nil), ("1e5", 1e5),
        ("true", true), ("True", true), ("FALSE", false), ("null", nil), ("~", nil), ("Null", nil), ("\"\"", ""),
        ("'null'", "null"), ("\"36\"", "36"), ("no", "no"), ("on", "on"), ("yes", "yes"), ("y", "y"), ("0", 0),
        ("-7", -7), ("+7", 7), ("2147483647", .int(.max)), ("2147483648", .long(1 << 31)),
        ("9223372036854775807", .long(.max)), ("-9223372036854775808", .long(.min)), ("1.5", 1.5), ("-0.0", -0.0),
        ("1e3", 1_000.0), ("1.0", 1.0), (".5", 0.5), ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"), ("$5 off", "$5 off"), ("{$literal: $email}", "$email"),
        ("a b", "a b"), ("1.2.3", "1.2.3"),
        ("+41 44 123", "+41 44 123"), ("!!str 36", "36"), ("nan", "nan"), ("inf", "inf"), ("-", "-"), ("[]", []),
        ("{}", [:]), ("[1, [a, null]]", [1, ["a", nil]]), ("{b: 1, a: {c: no}}", ["b": 1, "a": ["c": "no"]]),
        ("\"two\\nlines\"", "two\nlines"), ("日本", "日本"),
    ]

    static let extended: [(String, BSONValue)] = [
        ("{$date: \"2020-01-01T00:00:00Z\"}", .date(milliseconds: 1_577_836_800_000)),
        ("{$date: 2020-01-01T00:00:00Z}", .date(milliseconds: 1_577_836_800_000)),
        ("{$date: {$numberLong: \"-1\"}}", .date(milliseconds: -1)),
        ("{$oid: 0123456789abcdef01234567}", .objectID(ObjectID(high: 0x0123_4567_89AB_CDEF, low: 0x0123_4567))),
        ("{$numberLong: \"5\"}", .long(5)), ("{$numberInt: \"5\"}", 5), ("{$numberDouble: \"5\"}", 5.0),
        ("{$numberLong: 5}", .long(5)),
        ("{$numberDecimal: 1.50}", .decimal(Decimal128(high: 0x303C_0000_0000_0000, low: 150))),
        ("{$numberDouble: Infinity}", .double(.infinity)),
        ("{$numberDecimal: \"1.50\"}", .decimal(Decimal128(high: 0x303C_0000_0000_0000, low: 150))),
        ("{$binary: {base64: AQI=, subType: \"00\"}}", .binary(subtype: 0, bytes: [1, 2])),
        ("{$uuid: 00112233-4455-6677-8899-aabbccddeeff}", .binary(subtype: 4, bytes: (0..<16).map { $0 * 0x11 })),
        ("{$undefined: true}", .undefined), ("{$minKey: 1}", .minKey),
        ("{$timestamp: {t: 5, i: 1}}", .timestamp(0x5_0000_0001)),
        ("{$regularExpression: {pattern: ^a, options: i}}", .regex(pattern: "^a", options: "i")),
        (
            "[{$numberLong: \"5\"}, {a: {$oid: 000000000000000000000001}}]",
            [.long(5), ["a": .objectID(ObjectID(high: 0, low: 1))]]
        ),
    ]

    @Test(arguments: refused) func isRefused(_ text: String, _ error: String) {
        #expect(Fixture.failure { try Self.value(text) } == "j.yml:3:\(error)")
    }

    static let refused: [(String, String)] = [
        ("014", "36: \"014\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        ("0o14", "36: \"0o14\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        ("0x1F", "36: \"0x1F\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        ("1_000", "36: \"1_000\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        ("12:30", "36: \"12:30\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        (".inf", "36: \".inf\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        (".nan", "36: \".nan\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        ("9223372036854775808", "36: 9223372036854775808 is beyond the range of a long: quote it"),
        ("1e999", "36: \"1e999\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}"),
        ("!!int x", "36: \"x\" does not match its tag"), ("!!bool \"yes\"", "36: \"yes\" does not match its tag"),
        (
            "!!binary aGk=",
            "36: a job file cannot have the tag tag:yaml.org,2002:binary: use str, int, float, bool, null, or "
                + "extended JSON"
        ),
        ("{$foo: 1}", "36: extended JSON has no type \"$foo\""),
        ("{$oid: 12}", "36: invalid extended JSON: Invalid input string \"…\", looking for OID"),
        ("{$oid: {a: 1}}", "36: invalid extended JSON: Unexpected nested object value for \"…\" key"),
        ("{$numberLong: 5.5}", "36: invalid extended JSON: Number \"…\" is invalid"),
        ("{$numberInt: 3000000000}", "36: invalid extended JSON: Invalid input string \"…\", looking for INT32"),
        ("{$numberDecimal: 1.5.0}", "53: \"1.5.0\" is not a decimal of at most 34 digits"),
        ("{$date: yesterday}", "36: invalid extended JSON: Could not parse \"…\""),
        ("{$date: 1, a: 2}", "36: invalid extended JSON: Invalid key \"…\""),
        (
            "{$uuid: 12}",
            "36: invalid extended JSON: Invalid input string \"…\", looking for a dash-separated UUID string"
        ),
        (
            "{$binary: {base64: \"?\", subType: \"00\"}}",
            "36: invalid extended JSON: Invalid input string \"…\", looking for base64-encoded binary"
        ),
        ("{a: 1, $b: 2}", "36: extended JSON has no type \"$b\""),
        ("*a", "36: aliases are not supported: write out the value that this one refers to"),
        ("{[a]: 1}", "37: a field's name must be a text without a NUL"),
        ("{\"a\\0b\": 1}", "37: a field's name must be a text without a NUL"),
    ]

    private static func value(_ text: String) throws -> BSONValue? {
        let job = try JobFile.parse(
            "job: a\ncollection: b.c\nsteps: [default: {field: d, value: \(text)}]", path: "j.yml")
        guard case .constant(let value) = (job.steps.first?.step.kind as? DefaultStep)?.value else { return nil }
        return value
    }
}
