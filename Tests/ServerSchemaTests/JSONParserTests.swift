import ServerSchema
import Testing

@Suite struct JSONParserTests {
    private func parse(_ text: String) throws(SchemaError) -> LocatedJSON {
        try JSONParser.parse(Array(text.utf8), file: "f")
    }

    @Test func everythingHasItsPlace() throws {
        let json = try parse("\u{FEFF}{\n  \"é\": [1, -2.50e+3,\n    true],\r\n \"b\": {\"c\": null}}\n")
        #expect(json.location == SourceLocation(file: "f", line: 1, column: 1))
        let members = try #require(json.members)
        #expect(members.map(\.name) == ["é", "b"])
        #expect(members.map(\.nameLocation.description) == ["f:2:3", "f:4:2"])
        #expect(members[0].value.location.description == "f:2:9")
        guard case .array(let elements) = members[0].value.value else { return #expect(Bool(false)) }
        #expect(elements.map(\.location.description) == ["f:2:10", "f:2:13", "f:3:5"])
        guard case .scalar(.number(let text)) = elements[1].value else { return #expect(Bool(false)) }
        #expect(text == "-2.50e+3")
        #expect(json["b"]?["c"]?.kind == "null")
    }

    @Test func escapesAreResolved() throws {
        #expect(try parse(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00€""#).text == "\"\\/\u{8}\u{c}\n\r\té😀€")
    }

    @Test func namesThatRepeatAreKept() throws {
        #expect(try parse(#"{"a": 1, "a": 2}"#).members?.count == 2)
    }

    static let refusals: [Refusal] = [
        .init("", "f: the file is empty (a placeholder is written {})"),
        .init(" \n ", "f: the file is empty (a placeholder is written {})"),
        .init("{\"a\": 1\n \"b\": 2}", "f:1:8: expected ',' or '}' after this value"),
        .init("[1 2]", "f:1:3: expected ',' or ']' after this value"),
        .init("{\"a\": 1,\n}", "f:1:8: a ',' must not come before '}'"),
        .init("[1, ]", "f:1:3: a ',' must not come before ']'"),
        .init("{a: 1}", "f:1:2: expected '\"' or '}'"),
        .init("{\"a\": 1, b: 2}", "f:1:10: expected a name in double quotes after ','"),
        .init("{\"a\" 1}", "f:1:5: expected ':' after this name"),
        .init("{\"a\":", "f:1:6: the file ends where a value is expected"),
        .init("{\"a\": 'x'}", "f:1:7: expected a value; write text in double quotes"),
        .init("// x\n{}", "f:1:1: JSON has no comments"),
        .init("{} x", "f:1:3: expected the end of the file after this value"),
        .init("[tru]", "f:1:2: expected a value"),
        .init("[NaN]", "f:1:2: expected a value"),
        .init("[01]", "f:1:2: a number must not begin with 0"),
        .init("[-]", "f:1:2: this is not a number"),
        .init("[1.]", "f:1:4: expected a digit after '.'"),
        .init("[1e]", "f:1:4: expected a digit in this exponent"),
        .init("[+1]", "f:1:2: expected a value"),
        .init("[\"a", "f:1:2: this string is not closed"),
        .init("[\"a\n\"]", "f:1:2: this string is not closed on its line"),
        .init("[\"a\tb\"]", "f:1:4: a control character must be written \\u00XX"),
        .init(#"["a\x"]"#, "f:1:4: this escape does not exist in JSON"),
        .init(#"["\u12g4"]"#, "f:1:3: expected four hexadecimal digits after \\u"),
        .init(#"["\ud83d"]"#, "f:1:3: half of a surrogate pair"),
        .init(#"["\ude00"]"#, "f:1:3: half of a surrogate pair"),
        .init(String(repeating: "[", count: 300), "f:1:201: values are nested deeper than 200 levels"),
    ]

    @Test(arguments: refusals) func badTextIsRefusedAtItsPlace(_ refusal: Refusal) {
        #expect(refusal.check { text throws(SchemaError) in _ = try parse(text) } == refusal.error)
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        let error = #expect(throws: SchemaError.self) { try JSONParser.parse([0x22, 0x61, 0xFF, 0x22], file: "f") }
        #expect(error?.description == "f: the file is not UTF-8 at byte 2 (save it as UTF-8)")
    }

    @Test func noCutOfAGoodFileCrashes() throws {
        let text = Array(#"{"a": [1.5e-3, "x\u00e9\n", {"b": true}, null], "c": -0}"#.utf8)
        _ = try JSONParser.parse(text, file: "f")
        for end in text.indices {
            #expect(throws: SchemaError.self) { try JSONParser.parse(Array(text[..<end]), file: "f") }
        }
    }
}
