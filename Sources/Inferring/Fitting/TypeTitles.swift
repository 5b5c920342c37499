/// Chooses the names of client types, which are identifiers of at most 57 bytes and differ from each other.
///
/// Source of the rules: `semantics.md` section 4 of the project's reference, `title-…`.
package struct TypeTitles {
    /// The name of the client type to which whole documents belong.
    package let root: String
    private var used: Set<String>
    private let isPascalCase: Bool

    static var maximumLength: Int { 57 }

    /// Chooses the name of the client type to which whole documents belong.
    /// - Parameters:
    ///   - reserved: the names of other types, which must not be used.
    ///   - isPascalCase: whether the names are written as in `OrderItems`, and not as in `order_items`.
    package init(root name: String, reserved: Set<String> = [], isPascalCase: Bool = false) {
        var used = reserved
        root = Self.unique(Self.identifier(name, isPascalCase), &used)
        (self.used, self.isPascalCase) = (used, isPascalCase)
    }

    /// Returns a different type name for each of the given collections.
    package static func roots(of collections: [String], isPascalCase: Bool = false) -> [String] {
        var used: Set<String> = []
        return collections.map { unique(identifier($0, isPascalCase), &used) }
    }

    /// Returns a name for the type of the embedded objects at a path.
    mutating func title(at path: [String]) -> String {
        Self.unique(Self.identifier(([root] + path).joined(separator: "_"), isPascalCase), &used)
    }

    private static func identifier(_ text: String, _ isPascalCase: Bool) -> String {
        guard isPascalCase else { return identifier(text) }
        let words = identifier(text).split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return words.isEmpty ? "T" : words.joined()
    }

    /// Returns the text as a name of ASCII letters, digits and underscores that begins with a letter.
    private static func identifier(_ text: String) -> String {
        let characters = text.unicodeScalars.map { scalar -> Character in
            let isWord = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isWord ? Character(scalar) : "_"
        }
        let name = String(characters)
        guard let first = name.first, first.isLetter else { return "T_" + name }
        return name
    }

    private static func unique(_ name: String, _ used: inout Set<String>) -> String {
        var result = String(name.prefix(maximumLength))
        var number = 2
        while !used.insert(result).inserted {
            let suffix = "_\(number)"
            result = String(name.prefix(maximumLength - suffix.count)) + suffix
            number += 1
        }
        return result
    }
}
