/// The named groups of a regular expression, with their numbers.
///
/// The numbers are needed because the server returns the captures of groups only by number.
struct NamedGroups: Hashable, Sendable {
    /// The name of each named group and its index among all capturing groups, from 0, in the order of the pattern.
    let groups: [(name: String, index: Int)]

    init(in pattern: String) {
        var groups: [(name: String, index: Int)] = []
        var count = 0
        var isInClass = false
        var rest = pattern[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\": rest = rest.dropFirst()
            // A "]" right after "[" or "[^" is a member of the character class and does not end it.
            case "[" where !isInClass:
                isInClass = true
                if rest.first == "^" { rest = rest.dropFirst() }
                if rest.first == "]" { rest = rest.dropFirst() }
            case "]": isInClass = false
            case "(" where !isInClass && rest.first != "?" && rest.first != "*": count += 1
            case "(" where !isInClass:
                guard let name = Self.name(rest) else { continue }
                groups.append((name, count))
                count += 1
            default: break
            }
        }
        self.groups = groups
    }

    /// Returns the name of a group from the text after its parenthesis; `nil` if the group has no name.
    ///
    /// The text of a named group begins with `?<name>`, `?P<name>` or `?'name'`.
    private static func name(_ text: Substring) -> String? {
        for (start, end) in [("?<", ">"), ("?P<", ">"), ("?'", "'")] as [(String, Character)]
        where text.hasPrefix(start) {
            let name = text.dropFirst(start.count).prefix { $0 != end }
            let isName = name.first?.isLetter == true || name.first == "_"
            // A group that begins with `?<=` or `?<!` is a lookbehind, and has no name.
            if isName { return String(name) }
        }
        return nil
    }

    static func == (left: Self, right: Self) -> Bool { left.groups.elementsEqual(right.groups, by: ==) }

    func hash(into hasher: inout Hasher) { for group in groups { hasher.combine(group.name) } }
}
