/// The texts in string literals of Swift's source, those that `+` joins as one, and an ellipsis in the place of what is interpolated.
struct SwiftTexts {
    /// The texts, in their order; those inside of interpolations after the text around them began.
    private(set) var all: [String] = []
    private var rest: Substring
    /// Where in ``all`` the last literal stands, while nothing but `+` came behind it.
    private var joined: Int?

    init(_ source: String) {
        rest = source[...]
        code(untilParenthesis: false)
    }

    /// Walks over code, up to the end or to the parenthesis that closes an interpolation.
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
                // What is escaped is a blank or a mark; an escaped line break joins two lines.
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
