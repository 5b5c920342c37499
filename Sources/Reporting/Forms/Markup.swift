import BSON

/// Text inside of XML and HTML.
enum Markup {
    /// Text between tags; characters that XML forbids become a replacement character.
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
            // Two of them begin a command to the runners of some builds.
            case "#" where last == "#": result += "&#35;"
            case ":" where last == ":": result += "&#58;"
            default: result.unicodeScalars.append(scalar)
            }
            last = scalar
        }
        return result
    }

    /// Text between tags, on one line whatever it holds.
    static func line(_ text: String) -> String { self.text(text.printable) }

    /// An attribute with a blank before it.
    static func attribute(_ name: String, _ value: String) -> String {
        let lines = text(value).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
        return " \(name)=\"\(lines)\""
    }
}
