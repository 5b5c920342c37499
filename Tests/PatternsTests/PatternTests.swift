import Testing

@testable import Patterns

@Suite("Patterns are those of mongod 6.0")
struct PatternTests {
    @Test("a match may stand anywhere")
    func unanchored() throws {
        #expect(try Pattern("b+", mode: .characters).matches("abc"))
        #expect(try !Pattern("^b+", mode: .characters).matches("abc"))
        #expect(try Pattern("c$", mode: .characters).matches("abc\n"))
    }

    @Test("the two modes differ in what one character is")
    func modes() throws {
        #expect(try Pattern("^.$", mode: .characters).matches("é"))
        #expect(try !Pattern("^.$", mode: .bytes).matches("é"))
        #expect(try Pattern("^..$", mode: .bytes).matches("é"))
    }

    @Test("character types are those of ASCII", arguments: ["\\d", "\\w", "\\s"])
    func asciiTypes(text: String) throws {
        #expect(try !Pattern(text, mode: .characters).matches("٣é\u{A0}"))
    }

    @Test(
        "what PCRE 8 accepts, and PCRE2 alone would not, matches as it did",
        arguments: [
            ("^\\i$", "i"), ("^[\\j]$", "j"), ("^[\\w-.]+$", "a-.b"), ("^[[:alpha:]-_]$", "-"), ("^[\\p{L}-x]$", "-"),
            ("(?=\\Ka)", "a"), ("^\\y[\\d-x]\\_$", "y-_"),
        ])
    func rewritten(text: String, match: String) throws {
        #expect(try Pattern(text, mode: .characters).matches(match))
    }

    @Test(
        "what PCRE 8 refuses is refused",
        arguments: [
            "(", "[a-\\d]", "\\u0041", "\\L", "(?<=a+)b", "\\", "a{2,1}", "[b-a]", "(?<n>a)(?<n>b)", "\\x{2z}", "*",
        ])
    func refused(text: String) {
        for mode in [Pattern.Mode.characters, .bytes] {
            #expect(throws: PatternError.self) { try Pattern(text, mode: mode) }
        }
    }

    @Test("PCRE2, too, reads (*UTF8) at the beginning, so newer servers accept it", arguments: ["", "(*UCP)"])
    func utf8(before: String) throws {
        let pattern = try Pattern("\(before)(*UTF8)^.$", mode: .bytes)
        #expect(try pattern.matches("é"))
        #expect(pattern.refusalByPCRE2 == nil)
    }

    @Test("a NUL is refused")
    func nul() {
        #expect(throws: PatternError.containsNUL) { try Pattern("a\0b", mode: .characters) }
    }

    @Test("a text that is not UTF-8 matches nothing")
    func invalidUTF8() throws {
        let bytes: [UInt8] = [0x61, 0xFF]
        #expect(try !Pattern("a", mode: .characters).matches(unsafe bytes.span.bytes, at: 0, length: 2))
        #expect(try Pattern("a", mode: .bytes).matches(unsafe bytes.span.bytes, at: 0, length: 2))
    }

    @Test("a match that takes too long is an error, never an answer")
    func undecided() throws {
        let pattern = try Pattern("^(a+)+\\1$", mode: .characters)
        #expect(throws: PatternError.undecided) {
            try pattern.matches(String(repeating: "a", count: 64) + "b")
        }
    }

    @Test("a long text does not run out of stack")
    func longText() throws {
        #expect(try Pattern("^(a|b)*$", mode: .characters).matches(String(repeating: "a", count: 200_000)))
    }

    @Test("a match that takes too much memory is an error: a text can make the interpreter keep a kilobyte per byte")
    func memory() throws {
        let pattern = try Pattern("^((a)|(b)|(ab)|(ba))*$", mode: .characters)
        #expect(try pattern.matches("abba"))
        #expect(throws: PatternError.undecided) {
            try pattern.matches(String(repeating: "ab", count: 600_000))
        }
    }

    @Test("one pattern serves many threads")
    func threads() async throws {
        let pattern = try Pattern("^[a-z]+@[a-z]+$", mode: .characters)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    try pattern.matches(number.isMultiple(of: 2) ? "a@b" : "ab") == number.isMultiple(of: 2)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
