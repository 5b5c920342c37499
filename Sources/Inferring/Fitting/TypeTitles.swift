/// Chooses the names of client types, which are identifiers of at most 57 bytes and differ from each other.
///
/// Source of the rules: `semantics.md` section 4 of the project's reference, `title-…`.
package struct TypeTitles {
    /// The name of the documents' type.
    package let root: String
    private var used: Set<String>

    static var maximumLength: Int { 57 }

    /// Chooses the name of the documents' type.
    /// - Parameter reserved: the names of other types, which must not be used.
    package init(root name: String, reserved: Set<String> = []) {
        var used = reserved
        root = Self.unique(Self.identifier(name), &used)
        self.used = used
    }

    /// Returns a different type name for each of the given collections.
    package static func roots(of collections: [String]) -> [String] {
        var used: Set<String> = []
        return collections.map { unique(identifier($0), &used) }
    }

    /// Returns a name for the type of the embedded objects at a path.
    mutating func title(at path: [String]) -> String {
        Self.unique(Self.identifier(([root] + path).joined(separator: "_")), &used)
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
