extension String {
    /// The text in quotation marks, as JSON and JavaScript both read it; in ASCII wherever a reader could be misled.
    package var quotedAsJSON: String { quoted(\.escapedAsJSON) }

    /// The text in quotation marks, as YAML reads it: it knows no surrogates.
    package var quotedAsYAML: String {
        quoted { scalar in
            guard scalar.value > 0xFFFF else { return scalar.escapedAsJSON }
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
    }

    /// The text on one line, with escapes in the place of whatever a terminal, an editor or the runner of a build would
    /// obey instead of showing it: text that others wrote is not to steer them.
    package var printable: String {
        let isPlain = utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        if isPlain, utf8.first(where: { $0 != UInt8(ascii: " ") }) != UInt8(ascii: ":") { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.misleads || scalar == "#" && result.last == "#" {
                result += scalar.escapedAsJSON
            } else if scalar == ":", result.hasSuffix(":"), result.dropLast().allSatisfy(\.isWhitespace) {
                // What begins with two colons is a command to GitHub's runner.
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
            // Two of them begin a command to the runners of some builds, wherever they stand.
            case _ where scalar.misleads || scalar == "#" && last == "#": result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
            last = scalar
        }
        return result + "\""
    }
}

extension Unicode.Scalar {
    /// Whether readers obey it instead of showing it: control characters, ends of lines, marks of direction, and what
    /// has no width.
    package var misleads: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    /// `\n`, `\u001b` and the like.
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
