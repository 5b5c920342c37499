/// The texts of the string literals in Swift source.
///
/// Literals that are joined by `+` are one text. An ellipsis replaces each interpolation.
struct SwiftTexts {
    /// The texts in the order in which they begin.
    ///
    /// A text inside an interpolation comes after the text around it.
    private(set) var all: [String] = []
    private var rest: Substring
    /// The index of the last text in ``all``, if only `+` and white space have followed this text so far; otherwise
    /// `nil`.
    ///
    /// If there is an index, the next literal belongs to that text.
    private var joined: Int?

    init(_ source: String) {
        rest = source[...]
        code(untilParenthesis: false)
    }

    /// Reads code and the literals in it, up to the end of the source.
    ///
    /// - Parameter isInside: whether to end at the parenthesis that closes the current interpolation instead.
    private mutating func code(untilParenthesis isInside: Bool) {
        var depth = 0
        while let character = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
            } else if character == "\"" || character == "#", let opening = rest.prefixMatch(of: /(#*)("""|")/) {
                rest = rest[opening.range.upperBound...]
                literal(pounds: opening.1, quotes: opening.2)
            } else {
                if character == "(" { depth += 1 }
                if character == ")" {
                    if isInside, depth == 0 { return }
                    depth -= 1
                }
                if character != "+", !character.isWhitespace { joined = nil }
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func literal(pounds: Substring, quotes: Substring) {
        let number = joined ?? all.count
        if joined == nil { all.append("") }
        let (end, escape) = (quotes + pounds, "\\" + pounds)
        while !rest.isEmpty, !rest.hasPrefix(end) {
            if rest.hasPrefix(escape + "(") {
                rest = rest.dropFirst(escape.count + 1)
                all[number] += "…"
                joined = nil
                code(untilParenthesis: true)
                rest = rest.dropFirst()
            } else if rest.hasPrefix(escape) {
                // An escape sequence represents white space or a punctuation mark, or joins two lines. A space replaces
                // it in the text.
                rest = rest.dropFirst(escape.count + 1)
                all[number] += " "
            } else {
                all[number].append(rest.removeFirst())
            }
        }
        rest = rest.dropFirst(end.count)
        joined = number
    }
}
