import Reporting
import ServerSchema
import Testing

/// Tests that an error's line is shown with a caret below the position, whatever the line contains.
@Suite struct SourceSnippetTests {
    private func lines(
        _ text: String, _ line: Int, _ column: Int, counting unit: SourceSnippet.Unit = .bytes, width: Int = 80,
        suggestion: String? = nil, isColored: Bool = false
    ) -> [String]? {
        SourceSnippet(
            SourceLocation(file: "a", line: line, column: column), in: SourceSnippet.lines(of: text), counting: unit,
            suggestion: suggestion
        )?.lines(width: width, isColored: isColored)
    }

    @Test func theCaretUnderlinesTheWordOrTheQuotedText() {
        #expect(
            lines("{\n  \"bsonType\": \"strng\"\n}\n", 2, 15, suggestion: "string") == [
                "  2 |   \"bsonType\": \"strng\"", "    |               ^~~~~~~", "    |               string",
            ])
        #expect(lines("steps:\n  - renmae: {a: b}", 2, 5) == ["  2 |   - renmae: {a: b}", "    |     ^~~~~~"])
        #expect(lines(#"{"a\"b": 1}"#, 1, 2) == [#"  1 | {"a\"b": 1}"#, "    |  ^~~~~~"])
    }

    @Test func theEndOfALineHasACaret() {
        #expect(lines("{\n  \"a\": \n", 2, 8) == ["  2 |   \"a\": ", "    |        ^"])
        #expect(lines("a", 1, 2) == ["  1 | a", "    |  ^"])
        #expect(lines("a: [", 2, 1) == ["  1 | a: [", "    |     ^"], "what is missing is after the last line")
        #expect(lines("a: [\n", 2, 1) == ["  1 | a: [", "    |     ^"])
        #expect(lines("a\r\nbc\r\n", 2, 2) == ["  2 | bc", "    |  ^"])
    }

    @Test func aPlaceThatTheFileDoesNotHaveHasNoLines() {
        #expect(lines("a", 0, 0) == nil, "the whole file")
        #expect(lines("a", 3, 1) == nil, "the file changed")
        #expect(lines("", 1, 1) == ["  1 | ", "    | ^"])
        #expect(lines("a", 1, 99) == ["  1 | a", "    |  ^"])
    }

    /// A tab is shown as blanks up to the next tab stop, so that the caret is right on every terminal.
    @Test func tabsAreAligned() {
        #expect(lines("\t\"x\": y", 1, 7) == ["  1 |     \"x\": y", "    |          ^"])
        #expect(lines("ab\tcd", 1, 4) == ["  1 | ab  cd", "    |     ^~"])
    }

    /// Wide characters take two columns, and combining characters take none.
    ///
    /// JSON parsers count the column of an error in bytes, and YAML parsers count it in characters.
    @Test func wideCharactersAreAligned() {
        #expect(lines("名前: x", 1, 9) == ["  1 | 名前: x", "    |       ^"])
        #expect(lines("名前: x", 1, 5, counting: .characters) == ["  1 | 名前: x", "    |       ^"])
        #expect(lines("e\u{301}: x", 1, 5, counting: .characters) == ["  1 | e\u{301}: x", "    |    ^"])
        #expect(lines("😀 x", 1, 6) == ["  1 | 😀 x", "    |    ^"])
        #expect(lines("bé: 名", 1, 5, counting: .characters) == ["  1 | bé: 名", "    |     ^~"])
    }

    @Test func noCharacterControlsTheTerminal() {
        #expect(lines("\u{1B}[2J x", 1, 6) == [#"  1 | \u001b[2J x"#, "    |           ^"])
    }

    @Test(arguments: [20, 40, 80]) func aLongLineIsCutAroundTheCaret(_ width: Int) throws {
        let text = String(repeating: "a ", count: 200) + "wrong " + String(repeating: "b ", count: 200)
        let shown = try #require(lines(text, 1, 401, width: width, suggestion: "right"))
        for line in shown { #expect(line.count <= max(width, 26), "\(line)") }
        let column = try #require(shown[1].firstIndex(of: "^")).utf16Offset(in: shown[1])
        let start = shown[0].index(shown[0].startIndex, offsetBy: column)
        #expect(shown[0][start...].hasPrefix("wrong"), "\(shown)")
        #expect(shown[0].contains("| …") && shown[0].hasSuffix("…"))
        #expect(shown[1].hasSuffix("^~~~~"))
        #expect(shown[2].hasSuffix("right"))
    }

    @Test func aLongLineIsCutOnlyBehindACaretAtItsBeginning() throws {
        let shown = try #require(lines("bad " + String(repeating: "x", count: 200), 1, 1))
        #expect(shown[0].hasPrefix("  1 | bad x") && shown[0].hasSuffix("…") && shown[0].count == 80)
        #expect(shown[1] == "    | ^~~")
    }

    @Test func coloursAreForTheCaretAlone() {
        #expect(
            lines("ab", 1, 1, suggestion: "b", isColored: true) == [
                "  1 | ab", "    | \u{1B}[31;1m^~\u{1B}[0m", "    | \u{1B}[32;1mb\u{1B}[0m",
            ])
    }
}

/// Tests the links to files that some terminals can open.
@Suite struct HyperlinkTests {
    @Test func aFileIsALinkWithItsMachine() {
        let link = Hyperlink.text("a b.yml", toFile: "/home/ada/a b.yml", on: "host")
        #expect(link == "\u{1B}]8;;file://host/home/ada/a%20b.yml\u{1B}\\a b.yml\u{1B}]8;;\u{1B}\\")
        #expect(TerminalText.safe(link, isColored: true) == link)
        #expect(!TerminalText.safe(link, isColored: false).contains("\u{1B}"))
    }

    /// If a text from outside the program contains the escape sequence of a link, the program escapes it, so that no
    /// terminal opens the link.
    @Test func anotherLinkIsEscaped() {
        let foreign = "\u{1B}]8;;https://example.net\u{1B}\\click\u{1B}]8;;\u{1B}\\"
        #expect(TerminalText.safe(foreign, isColored: true).hasPrefix(#"\u001b]8;;https"#))
    }

    @Test func aLinkTakesTheColumnsOfItsText() {
        let link = Hyperlink.text("a.yml", toFile: "/a.yml", on: "host")
        #expect("\(link) word".fitted(to: 10) == "\(link) word")
    }
}
