/// Hides the secrets of connection strings, even of those that the driver cannot read.
///
/// A password may contain any character, even a space or an `@`, because the user may have forgotten to escape it.
enum ConnectionStringMask {
    /// Returns a copy of `text` without the secrets of the connection strings in it.
    ///
    /// The result has `***` for everything between the scheme of the first connection string and the last `@`, and for
    /// the values of options that hold a secret. Without a scheme, which the user may have mistyped, it has `***` for
    /// everything before the `@` in a word such as `user:password@host`.
    static func mask(_ text: String) -> String {
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return hidingOptions(of: text) }
        let head = text[..<end]
        if let start = endOfScheme(in: head.utf8) {
            return hidingOptions(of: "\(text[..<start])***\(text[end...])")
        }
        return hidingOptions(of: maskingWords(of: head) + text[end...])
    }

    /// Returns the end of the first scheme, such as `mongodb://`; `nil` if there is none.
    ///
    /// If the user gave a connection string in place of a path, normalizing it as a path may have left only one of the
    /// two slashes.
    private static func endOfScheme(in text: Substring.UTF8View) -> String.Index? {
        var hasLetter = false
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): hasLetter = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "-"): break
            case UInt8(ascii: ":") where hasLetter:
                let rest = text[text.index(after: index)...]
                let end = rest.firstIndex { $0 != UInt8(ascii: "/") } ?? text.endIndex
                if end > rest.startIndex { return end }
                hasLetter = false
            default: hasLetter = false
            }
        }
        return nil
    }

    /// Hides the beginning of each word with a colon before an `@`; the last word ends before an `@`.
    private static func maskingWords(of text: Substring) -> String {
        var result = ""
        var rest = text
        while !rest.isEmpty {
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest[word.endIndex...]
            let end = rest.isEmpty ? word.endIndex : word.lastIndex(of: "@") ?? word.startIndex
            let start = word.firstIndex { $0.isLetter || $0.isNumber } ?? word.endIndex
            let isSecret = start < end && word[start..<end].dropFirst().dropLast().contains(":")
            result += isSecret ? "\(word[..<start])***\(word[end...])" : word
            let blanks = rest.prefix(while: \.isWhitespace)
            result += blanks
            rest = rest[blanks.endIndex...]
        }
        return result
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
