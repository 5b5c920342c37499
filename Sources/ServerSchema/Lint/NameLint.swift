/// Lint rules for the names of properties: `property-name-too-long`, `property-name-dollar`, `property-name-dot`.
enum NameLint {
    /// The most characters that the name of a client's property can have.
    static let maximumLength = 63

    static func findings(at place: LintPlace) -> [LintFinding] {
        guard let name = place.propertyName else { return [] }
        var findings: [LintFinding] = []
        if let level = LintLength.level(of: name, maximum: maximumLength) {
            findings.append(
                place.finding(
                    .propertyNameTooLong, level,
                    "the name has \(LintLength.words(name)), but \(maximumLength) are allowed", remedy: "shorten it"))
        }
        if name.hasPrefix("$") {
            findings.append(
                place.finding(
                    .propertyNameDollar, .error, "a name that begins with $ cannot be addressed", remedy: "rename it"))
        }
        if name.contains(".") {
            findings.append(
                place.finding(
                    .propertyNameDot, .error, "a name with a dot cannot be addressed: dots are the steps of paths",
                    remedy: "rename it"))
        }
        return findings
    }
}

/// Compares a text's length with a limit that App Services states in "UTF-8 characters", which may mean characters or
/// bytes.
enum LintLength {
    /// Returns an error if the text has too many characters, a warning if it only has too many bytes, and otherwise
    /// `nil`.
    static func level(of text: String, maximum: Int) -> LintFinding.Level? {
        if text.unicodeScalars.count > maximum { return .error }
        return text.utf8.count > maximum ? .warning : nil
    }

    static func words(_ text: String) -> String {
        let (characters, bytes) = (text.unicodeScalars.count, text.utf8.count)
        return characters == bytes ? "\(characters) characters" : "\(characters) characters in \(bytes) bytes"
    }
}
