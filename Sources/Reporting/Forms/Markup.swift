import BSON

/// Escapes text for XML and HTML.
enum Markup {
    /// Returns escaped text for use between tags, with a replacement character for characters that XML forbids.
    static func text(_ text: String) -> String {
        var result = ""
        var last: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case "\r": result += "&#13;"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                result.unicodeScalars.append("\u{FFFD}")
            case _ where scalar.misleads: result += scalar.escapedAsJSON
            // Some build runners read "##" or "::" in their output as the start of a command, so the second character
            // is escaped.
            case "#" where last == "#": result += "&#35;"
            case ":" where last == ":": result += "&#58;"
            default: result.unicodeScalars.append(scalar)
            }
            last = scalar
        }
        return result
    }

    /// Returns escaped text for use between tags, as one line: line breaks in it are shown as escapes.
    static func line(_ text: String) -> String { self.text(text.printable) }

    /// Returns an attribute such as ` name="value"`, with a leading blank.
    static func attribute(_ name: String, _ value: String) -> String {
        let lines = text(value).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
        return " \(name)=\"\(lines)\""
    }
}
