/// Text that a terminal shows as a link, by the escape sequence OSC 8.
package enum Hyperlink {
    private static let start = "\u{1B}]8;;"
    private static let end = "\u{1B}\\"

    /// Returns a text as a link to a file.
    /// - Parameters:
    ///   - text: the text, which is shown as it is.
    ///   - path: the absolute path of the file.
    ///   - host: the name of the machine that has the file, so that a terminal on another machine does not open its own
    ///     file at this path.
    package static func text(_ text: String, toFile path: String, on host: String) -> String {
        "\(start)file://\(encoded(host))\(encoded(path))\(end)\(text)\(start)\(end)"
    }

    /// Returns the text with everything but letters, digits and a few other characters in percent encoding.
    static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            if isPlain(byte) { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "/._-~".utf8.contains(byte) }

    /// Returns the escape sequence at the beginning of a text, if it is one that this type writes; otherwise `nil`.
    static func code(at text: Substring) -> Substring? {
        guard text.hasPrefix(start), let close = text.firstRange(of: end) else { return nil }
        let address = text[..<close.lowerBound].dropFirst(start.count)
        let isOurs = address.isEmpty || address.hasPrefix("file://")
        guard isOurs, address.utf8.allSatisfy({ isPlain($0) || "%:".utf8.contains($0) }) else { return nil }
        return text[..<close.upperBound]
    }
}
