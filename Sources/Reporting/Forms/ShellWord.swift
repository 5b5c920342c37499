import BSON

extension String {
    /// The text quoted so that a shell takes it as exactly one word, on one line.
    package var shellWord: String {
        let isPlain = utf8.allSatisfy { $0.isLetterOrDigit || "._-=/@:,+%".utf8.contains($0) }
        if isPlain, !isEmpty, !hasPrefix("-"), !hasPrefix("::") { return self }
        guard unicodeScalars.contains(where: \.misleads) else { return "'" + replacing("'", with: #"'\''"#) + "'" }
        // The escapes are octal, because bash, zsh and ksh all read them. The bytes that a shell makes of `\u` would
        // depend on the locale.
        let bytes = utf8.map { byte -> String in
            guard (0x20..<0x7F).contains(byte), byte != UInt8(ascii: "'"), byte != UInt8(ascii: "\\") else {
                let digits = String(byte, radix: 8)
                return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
            return String(UnicodeScalar(byte))
        }
        return "$'" + bytes.joined() + "'"
    }
}

extension UInt8 {
    /// Whether the byte is a letter or digit of ASCII.
    var isLetterOrDigit: Bool {
        let character = Character(UnicodeScalar(self))
        return character.isASCII && (character.isLetter || character.isNumber)
    }
}
