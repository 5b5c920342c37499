/// Takes document values and secrets out of texts that others wrote.
enum Redaction {
    /// A server's or the driver's message without what it quotes of documents.
    ///
    /// What stands in braces goes (echoed commands and documents), and what stands in double quotes, where mongod prints
    /// string values. mongod escapes neither, so that a value may hold either: all from the first to the last goes. Names,
    /// which mongod puts in single quotes, stay.
    static func serverMessage(_ message: String) -> String {
        for start in ["dup key:", "First element:"] {
            if let found = message.firstRange(of: start) { return message[..<found.upperBound] + " {…}" }
        }
        let refused = "to execute command { "
        if let found = message.firstRange(of: refused) {
            // What is missing is the privilege for this command.
            let command = message[found.upperBound...].prefix { $0.isLetter && $0.isASCII }
            return message[..<found.lowerBound] + "to execute command \(command) {…}"
        }
        guard let start = message.firstIndex(where: { $0 == "{" || $0 == "\"" }) else { return message }
        let quotes = message[start] == "\""
        let end = message[start...].dropFirst().lastIndex { $0 == "}" || $0 == "\"" }
        return message[..<start] + (quotes ? "\"…\"" : "{…}") + (end.map { message[$0...].dropFirst() } ?? "")
    }

    /// Also without numbers and what stands in single quotes: for errors whose text is about a value.
    static func conversionMessage(_ message: String) -> String {
        var kept = ""
        var isQuoted = false
        for character in serverMessage(message) {
            if character == "'" {
                kept += isQuoted ? "…'" : "'"
                isQuoted.toggle()
            } else if !isQuoted {
                let isDigit = character.isNumber
                if !isDigit { kept.append(character) } else if kept.last != "#" { kept.append("#") }
            }
        }
        return isQuoted ? kept + "…" : kept
    }

    /// The text with every occurrence of `secrets` masked; longer ones first, empty ones not at all.
    static func masking(_ secrets: [String], in text: String) -> String {
        var masked = text
        for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count }) where !secret.isEmpty {
            masked = masked.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "***")
        }
        return masked
    }
}
