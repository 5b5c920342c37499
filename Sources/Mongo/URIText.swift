/// The text of a connection string that might not be valid, searched for its secrets, its files and a defect.
struct URIText {
    private let text: String

    init(_ text: String) { self.text = text }

    /// A defect in the scheme, or in the escapes of the user's name and the password; `nil` if there is none.
    ///
    /// The driver splits at the first `@` and `/`. If a password contains one of them unescaped, the rest of the
    /// password would become the name of a host or a database, and messages would show it.
    var defect: String? {
        guard text.hasPrefix("mongodb://") || text.hasPrefix("mongodb+srv://") else {
            return "it must begin with mongodb:// or mongodb+srv://"
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let ats = parts[0].count { $0 == "@" }
        let authority = parts[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)[2]
        let isAtOutside = !authority.contains("@") && (ats > 0 || parts.dropFirst().contains { $0.contains("@") })
        guard ats > 1 || isAtOutside else { return nil }
        return "percent-encode the user's name and the password (@ as %40, / as %2F, ? as %3F, : as %3A)"
    }

    /// The user, the password, and the values of options that contain a secret, as written in the string.
    var secrets: [String] { userInfo + secretOptions }

    /// Whether the string has a password, or an option that may hold another secret.
    var holdsSecret: Bool { userInfo.count > 1 || !secretOptions.isEmpty }

    /// The text between the scheme and the last `@`, split at its first colon.
    ///
    /// An unescaped password may contain any character, so only the last `@` ends the text.
    private var userInfo: [String] {
        let rest = text.split(separator: "://", maxSplits: 1).last ?? ""
        guard let at = rest.lastIndex(of: "@") else { return [] }
        return rest[..<at].split(separator: ":", maxSplits: 1).map(String.init)
    }

    private var secretOptions: [String] {
        options.filter { $0.name.contains("password") || $0.name.contains("properties") }.map(\.value)
    }

    /// The files that TLS options name, also in the older spelling of the options.
    var files: [String] {
        let names: Set = [
            "tlscafile", "tlscertificatekeyfile", "sslcertificateauthorityfile", "sslclientcertificatekeyfile",
        ]
        return options.filter { names.contains($0.name) }.map(\.value)
    }

    /// The options of the connection string, with their names in lower case and their values as written.
    private var options: [(name: String, value: String)] {
        let options = text.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return options.split(whereSeparator: { $0 == "&" || $0 == ";" }).compactMap { option in
            let parts = option.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (parts[0].lowercased(), String(parts[1])) : nil
        }
    }
}
