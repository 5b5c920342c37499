import BSON
import ServerSchema
import Testing

@testable import Reporting

/// Tests that each output format escapes texts from users; one function for each format does this.
@Suite struct EscapingTests {
    @Test(arguments: [
        ("plain: text, ärger 👍", "plain: text, ärger 👍"), ("a\u{1B}[31m", #"a\u001b[31m"#),
        ("a\nb\r\n\tc", #"a\nb\r\n\tc"#),
        ("\u{202E}x\u{200B}\u{FEFF}", #"\u202ex\u200b\ufeff"#), ("\u{2028}\u{2029}\u{85}", #"\u2028\u2029\u0085"#),
        ("\u{E0041}", #"\udb40\udc41"#), ("::error::x", #":\u003aerror::x"#), ("  ::x", #"  :\u003ax"#),
        ("a::b", "a::b"),
        ("##[error]", #"#\u0023[error]"#), ("# a #", "# a #"), ("", ""),
    ])
    func printable(_ text: String, _ shown: String) { #expect(text.printable == shown) }

    @Test func terminalTextKeepsOurColoursAlone() {
        let paint = Paint(isOn: true)
        let text = paint(.error, "a\u{1B}[2Jb") + "\n" + paint.bold("::x") + "\u{1B}]0;title\u{7}\n::error::y"
        let safe = TerminalText.safe(text, isColored: true)
        #expect(
            safe
                == "\u{1B}[31;1ma\\u001b[2Jb\u{1B}[0m\n"
                + "\u{1B}[1m:\\u003ax\u{1B}[0m\\u001b]0;title\\u0007\n:\\u003aerror::y"
        )
        #expect(!TerminalText.safe(text, isColored: false).contains("\u{1B}"))
        #expect(["a\nb", "c"].asLines == "a\\nb\nc")
    }

    @Test(arguments: [
        ("app/v1.json", "app/v1.json"), ("", "''"), ("a b", "'a b'"), ("$(id)`x`", "'$(id)`x`'"),
        ("it's", #"'it'\''s'"#),
        ("-rf", "'-rf'"), ("a\n'b\\\u{1B}", #"$'a\012\047b\134\033'"#), ("é\n", #"$'\303\251\012'"#),
    ])
    func shellWords(_ text: String, _ word: String) { #expect(text.shellWord == word) }

    @Test(arguments: [
        ("@team", "@&#8203;team"), ("see https://a.b", "see https:&#8203;/&#8203;/a.b"), ("WWW.a.b", "WWW&#8203;.a.b"),
        ("fixes #1", ##"fixes \#&#8203;1"##), ("a|b<c>", #"a\|b\<c\>"#),
    ])
    func markdownCells(_ text: String, _ cell: String) { #expect(MarkdownReport.cell(text) == cell) }

    @Test func markup() {
        #expect(Markup.text("]]>\u{1B}\u{202E}##[x]\n::y") == "]]&gt;\u{FFFD}\\u202e#&#35;[x]\n:&#58;y")
    }

    @Test func yamlAndJSON() {
        #expect(BSONValue.object(["__proto__": ["a": 1]]).shellText == #"{ ["__proto__"]: { "a": 1 } }"#)
        #expect("\u{E0041}\u{2028}".quotedAsYAML == #""\U000e0041\u2028""#)
        #expect("##[x]\u{202E}\"".quotedAsJSON == ##""#\u0023[x]\u202e\"""##)
    }

    @Test func workflowCommands() {
        let annotation = GitHubAnnotations.Annotation(
            level: .error, place: SourceLocation(file: "a\n::stop-commands::x,b", line: 1, column: 2),
            title: "t\u{1B}", message: "a%\n::error::b\u{202E}\u{2028}")
        #expect(
            GitHubAnnotations(annotations: [annotation]).text
                == "::error file=a%0A%3A%3Astop-commands%3A%3Ax%2Cb,"
                + "line=1,col=2,title=t\\u001b::a%25%0A::error::b\\u202e\\u2028\n"
        )
    }
}
