extension String {
    /// The text in quotation marks, valid in JSON and in JavaScript.
    ///
    /// Control characters are escaped, and so are other characters that a terminal or an editor would obey instead of
    /// showing.
    package var quotedAsJSON: String { quoted(\.escapedAsJSON) }

    /// The text in quotation marks, valid in YAML: characters above U+FFFF are escaped without surrogates, unlike in
    /// JSON.
    package var quotedAsYAML: String {
        quoted { scalar in
            guard scalar.value > 0xFFFF else { return scalar.escapedAsJSON }
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
    }

    /// The text on one line, in a form that cannot control a terminal, an editor or a build runner.
    ///
    /// Characters are escaped if one of these programs would obey them instead of showing them.
    package var printable: String {
        let isPlain = utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        if isPlain, utf8.first(where: { $0 != UInt8(ascii: " ") }) != UInt8(ascii: ":") { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.misleads || scalar == "#" && result.last == "#" {
                result += scalar.escapedAsJSON
            } else if scalar == ":", result.hasSuffix(":"), result.dropLast().allSatisfy(\.isWhitespace) {
                // GitHub's runner treats a line that begins with two colons as a command, so the second colon is
                // escaped.
                result += scalar.escapedAsJSON
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private func quoted(_ escape: (Unicode.Scalar) -> String) -> String {
        var result = "\""
        var last: Unicode.Scalar = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            // Some build runners treat two number signs anywhere in a line as a command, so the second sign is escaped.
            case _ where scalar.misleads || scalar == "#" && last == "#": result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
            last = scalar
        }
        return result + "\""
    }
}

extension Unicode.Scalar {
    /// Whether programs obey the character instead of showing it.
    ///
    /// Such characters are control characters, line ends, and format characters, such as direction marks.
    package var misleads: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    /// The character as an escape sequence, such as `\n` or `\u001b`.
    package var escapedAsJSON: String {
        switch self {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            return UTF16.encode(self).map { units in
                units.map { unit in
                    let digits = String(unit, radix: 16)
                    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }.joined()
            } ?? ""
        }
    }
}
