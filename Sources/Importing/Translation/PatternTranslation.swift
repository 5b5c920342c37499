import Patterns

/// Translates a regular expression of JavaScript, which JSON Schema prescribes, into one of PCRE, which MongoDB uses.
///
/// Most expressions mean the same in both languages. Other expressions are written differently in PCRE, differ in a
/// detail that a note names, or do not exist in PCRE 8, the oldest version in use.
struct PatternTranslation {
    /// The differences between how MongoDB and JavaScript read the expression, each as a clause.
    private(set) var differences: Set<String> = []
    /// The reason why MongoDB cannot use the expression, apart from reasons that PCRE2 itself reports; `nil` if there
    /// is none.
    private(set) var refusal: String?

    private var rest: Substring.UnicodeScalarView
    private var result = ""
    /// Whether reading bytes instead of characters could change what the expression matches.
    private var needsCharacters = false
    /// Whether the item just read is a member of a character class, in which `*` and `+` are characters.
    private var isInClass = false

    /// Translates a regular expression of JavaScript.
    init(_ text: String) {
        rest = Substring(text).unicodeScalars
        needsCharacters = !text.utf8.allSatisfy { $0 < 0x80 }
        while let scalar = rest.popFirst() { take(scalar) }
    }

    /// Returns the translated expression.
    ///
    /// MongoDB applies an expression of `patternProperties` to bytes, unless the expression begins with `(*UTF)`. An
    /// expression that has to be applied to characters therefore gets this beginning.
    func text(for mode: Pattern.Mode) -> String { mode == .bytes && needsCharacters ? "(*UTF)\(result)" : result }

    private mutating func take(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\\": takeEscape()
        case "[": takeClass()
        case "$":
            differences.insert("$ also matches before a line break at the end")
            result += "$"
        case ".":
            result += "."
            takeWide()
        default: result.unicodeScalars.append(scalar)
        }
    }

    /// Records that the item just read matches characters beyond ASCII, which have several bytes.
    ///
    /// Nothing is recorded if `*` or `+` follows the item, because the repeated item then matches these bytes one by
    /// one.
    private mutating func takeWide() {
        if isInClass || rest.first != "*" && rest.first != "+" { needsCharacters = true }
    }

    private mutating func take(prefix: String) -> Bool {
        guard rest.starts(with: prefix.unicodeScalars) else { return false }
        rest = rest.dropFirst(prefix.unicodeScalars.count)
        return true
    }
}

/// Reads escapes.
extension PatternTranslation {
    private mutating func takeEscape() {
        guard let letter = rest.popFirst() else { return result += "\\" }
        switch letter {
        case "D", "W":
            result += "\\\(letter)"
            takeWide()
        case "S", "s":
            differences.insert("\\s and \\S know only the blanks of ASCII")
            result += "\\\(letter)"
            if letter == "S" { takeWide() }
        case "p", "P": takeProperty(letter)
        case "u": takeCodePoint()
        case "x":
            result += "\\x"
            if let digit = rest.first, !("0"..."7").contains(digit) { needsCharacters = true }
        case "v": result += "\\x0B"
        case let letter where letter.isASCII && letter.properties.isAlphabetic && !Self.escapes.contains(letter):
            // Without the flag `u`, JavaScript ignores the backslash of an escape without a meaning, such as `\y`, so
            // the backslash is left out.
            result.unicodeScalars.append(letter)
        default:
            if let other = Self.ofPCRE[letter] { differences.insert(other) }
            result += "\\"
            result.unicodeScalars.append(letter)
        }
    }

    /// The letters that have a meaning after a backslash, in JavaScript or in PCRE.
    ///
    /// The translation keeps a backslash before these letters.
    private static let escapes: Set<Unicode.Scalar> = Set("bBdDwWsSnrtfvcxukpPAzZGQEKRXhHNeag".unicodeScalars)
    /// The meanings of the escapes that PCRE has and JavaScript does not, by the letter after the backslash.
    private static let ofPCRE: [Unicode.Scalar: String] = [
        "A": "\\A is the beginning of the text", "z": "\\z is the end of the text",
        "Z": "\\Z also matches before a line break at the end",
    ]

    /// Reads `\u00e4`, `\u{1F600}` or a surrogate pair, which PCRE writes as `\x{…}`.
    private mutating func takeCodePoint() {
        needsCharacters = true
        if take(prefix: "{") {
            let digits = rest.prefix { $0 != "}" }
            rest = rest.dropFirst(digits.count + 1)
            result += "\\x{\(String(digits))}"
            return
        }
        guard let unit = takeUnit() else { return result += "u" }
        guard (0xD800..<0xDC00).contains(unit), String(rest.prefix(2)) == "\\u" else {
            result += "\\x{\(String(unit, radix: 16))}"
            return
        }
        rest = rest.dropFirst(2)
        let low = takeUnit() ?? 0
        result += "\\x{\(String(0x10000 + (unit - 0xD800) << 10 + (low &- 0xDC00) & 0x3FF, radix: 16))}"
    }

    private mutating func takeUnit() -> UInt32? {
        let digits = rest.prefix(4)
        guard digits.count == 4, let unit = UInt32(String(digits), radix: 16) else { return nil }
        rest = rest.dropFirst(4)
        return unit
    }

    /// Reads `\p{…}`, and replaces the name of the property by PCRE's shorter name.
    private mutating func takeProperty(_ letter: Unicode.Scalar) {
        needsCharacters = true
        guard take(prefix: "{") else { return result += "\\\(letter)" }
        let name = String(rest.prefix { $0 != "}" })
        rest = rest.dropFirst(name.unicodeScalars.count + 1)
        guard let short = UnicodeProperty.name(name) else {
            refusal = "MongoDB 6.0 does not know the property \(name)"
            return
        }
        result += "\\\(letter){\(short)}"
    }
}

/// Reads character classes.
extension PatternTranslation {
    private mutating func takeClass() {
        if take(prefix: "^]") {
            result += "[\\s\\S]"
            return takeWide()
        }
        if take(prefix: "]") { return result += "(?!)" }
        result += "["
        let isNegated = take(prefix: "^")
        if isNegated { result += "^" }
        var endsInType = false
        isInClass = true
        while let scalar = rest.popFirst(), scalar != "]" {
            endsInType = takeMember(scalar, afterType: endsInType)
        }
        isInClass = false
        result += "]"
        if isNegated { takeWide() }
    }

    /// Reads one member of a character class, and returns whether it means a set of characters, such as `\w`.
    private mutating func takeMember(_ scalar: Unicode.Scalar, afterType: Bool) -> Bool {
        switch scalar {
        case "\\":
            let isType = rest.first.map { "dDwWsSpP".unicodeScalars.contains($0) } ?? false
            takeEscape()
            return isType
        // A hyphen next to a set such as `\w` means the hyphen itself. PCRE2 accepts the hyphen there only after a
        // backslash.
        case "-" where afterType || startsWithType: result += "\\-"
        case "[": result += "\\["
        default: result.unicodeScalars.append(scalar)
        }
        return false
    }

    /// Whether the unread rest of the expression begins with an escape for a set of characters, such as `\w`.
    private var startsWithType: Bool {
        rest.first == "\\" && rest.dropFirst().first.map { "dDwWsSpP".unicodeScalars.contains($0) } ?? false
    }
}
