/// Hides the secrets of connection strings, even of those that the driver cannot read.
///
/// A password may contain any character, even a space or an `@`, because the user may have forgotten to escape it.
enum ConnectionStringMask {
    /// Returns a copy of `text` without the secrets of the connection strings in it.
    ///
    /// The result has `***` for everything between the scheme of the first connection string and the last `@`, and for
    /// the values of options that hold a secret.
    static func mask(_ text: String) -> String {
        // If the user gave a connection string in place of a path, normalizing it as a path may have left only one of
        // the two slashes after the scheme.
        let secret = /([A-Za-z][A-Za-z0-9+.\-]*:\/+)[\s\S]*@/.matchingSemantics(.unicodeScalar)
        return hidingOptions(of: text.replacing(secret) { "\($0.output.1)***@" })
    }

    /// Returns a connection string without its secrets.
    ///
    /// The scheme stays. `***` replaces everything else before the last `@`, and the values of options that hold a
    /// secret. If the part after the `@` contains a space or hosts that cannot be read, `***` replaces this whole part.
    /// Without an `@`, that part is everything after the scheme.
    static func mask(uri: String) -> String {
        let scheme = uri.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/+/)?.output ?? ""
        let end = uri.unicodeScalars.lastIndex(of: "@")
        let place = end.map { Substring(uri.unicodeScalars[$0...].dropFirst()) } ?? uri.dropFirst(scheme.count)
        let hosts = place.prefix { $0 != "/" && $0 != "?" }.split(separator: ",")
        let isReadable =
            !hosts.isEmpty && !place.contains(where: \.isWhitespace)
            && hosts.allSatisfy { $0.wholeMatch(of: /([A-Za-z0-9._%\-]+|\[[A-Fa-f0-9:.%]+\])(:[0-9]+)?/) != nil }
        return scheme + (end == nil ? "" : "***@") + (isReadable ? hidingOptions(of: String(place)) : "***")
    }

    private static func hidingOptions(of text: String) -> String {
        text.replacing(/(?i)([?&;](?:[a-z]*password|authMechanismProperties)=)[^&;\n]*/) { "\($0.output.1)***" }
    }
}
