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
        "what PCRE 8 accepts is accepted, and means what it meant",
        arguments: [
            ("^\\i$", "i"), ("^[\\j]$", "j"), ("^[\\w-.]+$", "a-.b"), ("^[[:alpha:]-_]$", "-"), ("^[\\p{L}-x]$", "-"),
            ("(?=\\Ka)", "a"), ("^\\y[\\d-x]\\_$", "y-_"), ("^(?X)a$", "a"), ("^[\\k]$", "k"), ("^\\8$", "8"),
            ("(*UTF8)(*UCP)^\\w$", "é"), ("^(?:(a|ab)(?1))c$", "aac"),
        ])
    func accepted(text: String, match: String) throws {
        #expect(try Pattern(text, mode: .characters).matches(match))
    }

    @Test("a call of a group is not entered again to find another match")
    func atomicCalls() throws {
        #expect(try !Pattern("^((.)(?1)\\2|.?)$", mode: .characters).matches("abba"))
    }

    @Test(
        "what PCRE 8, or mongod's group around it, refuses is refused",
        arguments: [
            "(", "[a-\\d]", "\\u0041", "\\L", "(?<=a+)b", "\\", "a{2,1}", "[b-a]", "(?<n>a)(?<n>b)", "\\x{2z}", "*",
            "(?^)a", "(?n)a", "(*pla:a)", "(*NO_JIT)a", "\\p{Script=Greek}", "\\Qa", "(?x)a #b",
            String(repeating: "(", count: 250) + String(repeating: ")", count: 250),
            String(repeating: "a", count: 32_763),
        ])
    func refused(text: String) {
        for mode in [Pattern.Mode.characters, .bytes] {
            #expect(throws: PatternError.self) { try Pattern(text, mode: mode) }
        }
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

    @Test("a match that takes too many steps is none")
    func steps() throws {
        let pattern = try Pattern("^.*?$", mode: .characters)
        #expect(pattern.matches(String(repeating: "a", count: 199_997)))
        #expect(!pattern.matches(String(repeating: "a", count: 199_998)))
        #expect(try !Pattern("^(a+)+$", mode: .characters).matches(String(repeating: "a", count: 64) + "b"))
    }

    @Test("a match that is nested too deep is none", arguments: [("^(a|b)*$", 1_998), ("^((((a))))*$", 798)])
    func depth(text: String, longest: Int) throws {
        let pattern = try Pattern(text, mode: .characters)
        #expect(pattern.matches(String(repeating: "a", count: longest)))
        #expect(!pattern.matches(String(repeating: "a", count: longest + 1)))
    }

    @Test("one pattern serves many threads")
    func threads() async throws {
        let pattern = try Pattern("^[a-z]+@[a-z]+$", mode: .characters)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    pattern.matches(number.isMultiple(of: 2) ? "a@b" : "ab") == number.isMultiple(of: 2)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
