/// A second text that mongod compiles for a regular expression; mongod refuses the expression if this text does not
/// compile.
///
/// The text has the settings at the beginning of the expression, then the expression in a group, and then `\z`. mongod
/// therefore refuses an expression with an unfinished `\Q` or comment. It also refuses an expression whose nesting is
/// as deep as PCRE allows, because the group adds a level. Source: `RE::Compile` of PCRE 8's wrapper for C++, which
/// mongod 6.0 uses.
enum WrappedText {
    static func of(_ text: String) -> String {
        var rest = text.utf8[...]
        while let setting = setting(at: rest) { rest = rest.dropFirst(setting) }
        return "\(text[..<rest.startIndex])(?:\(text[rest.startIndex...]))\\z"
    }

    /// Returns the length of a setting, such as `(*UTF8)`, at the beginning of the text; `nil` if there is none.
    private static func setting(at text: Substring.UTF8View) -> Int? {
        guard text.starts(with: "(*".utf8), let end = text.firstIndex(of: UInt8(ascii: ")")) else { return nil }
        let name = String(Substring(text[..<end].dropFirst(2)))
        let isLimit = limits.contains { limit in
            name.hasPrefix(limit) && name.utf8.dropFirst(limit.utf8.count).allSatisfy { digits.contains($0) }
        }
        guard isLimit || names.contains(name) else { return nil }
        return name.utf8.count + 3
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let limits = ["LIMIT_MATCH=", "LIMIT_RECURSION="]
    private static let names: Set<String> = [
        "UTF8", "UTF", "UCP", "NO_AUTO_POSSESS", "NO_START_OPT", "CR", "LF", "CRLF", "ANY", "ANYCRLF", "BSR_ANYCRLF",
        "BSR_UNICODE",
    ]
}
