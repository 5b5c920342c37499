/// A connection string that may not even parse, looked at for its secrets only.
struct URIText {
    private let text: String

    init(_ text: String) { self.text = text }

    /// What the driver would not notice; `nil` when there is no such thing.
    ///
    /// It splits at the first `@` and `/`, so that the rest of a password that was not escaped would become a host's or
    /// a database's name, and be shown as such.
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

    /// User, password, and the values of options that hold a secret, as they stand in the string.
    var secrets: [String] { userInfo + secretOptions }

    /// What stands between the scheme and the last `@`, at its first colon split: a password may hold any character
    /// when whoever wrote it forgot to escape it.
    private var userInfo: [String] {
        let rest = text.split(separator: "://", maxSplits: 1).last ?? ""
        guard let at = rest.lastIndex(of: "@") else { return [] }
        return rest[..<at].split(separator: ":", maxSplits: 1).map(String.init)
    }

    private var secretOptions: [String] {
        options.filter { $0.name.contains("password") || $0.name.contains("properties") }.map(\.value)
    }

    /// What the options of TLS name, in the older spelling, too.
    var files: [String] {
        let names: Set = [
            "tlscafile", "tlscertificatekeyfile", "sslcertificateauthorityfile", "sslclientcertificatekeyfile",
        ]
        return options.filter { names.contains($0.name) }.map(\.value)
    }

    /// The options, by their names in small letters; values as they stand.
    private var options: [(name: String, value: String)] {
        let options = text.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return options.split(whereSeparator: { $0 == "&" || $0 == ";" }).compactMap { option in
            let parts = option.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (parts[0].lowercased(), String(parts[1])) : nil
        }
    }
}
