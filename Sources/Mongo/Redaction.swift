/// Takes document values and secrets out of texts that others wrote.
package enum Redaction {
    /// A server's or the driver's message without what it quotes of documents.
    ///
    /// What stands in braces goes (echoed commands and documents), and what stands in double quotes, where mongod prints
    /// string values. mongod escapes neither, so that a value may hold either: all from the first to the last goes. Names,
    /// which mongod puts in single quotes, stay.
    package static func serverMessage(_ message: String) -> String {
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

    /// Whether a server's message tells of what was met while it worked on documents: then any part of it may be a value.
    ///
    /// mongod says "PlanExecutor error during aggregation", "Plan executor error during update" and the like, and mongos passes it on.
    static func isOfEvaluation(_ message: String) -> Bool { message.contains("xecutor error during ") }

    /// What is left of the reason for which a statement of a write was refused: it was refused on a document.
    static func writeMessage(_ message: String, _ code: MongoError.Code) -> String {
        code == .duplicateKey ? serverMessage(message) : valueMessage(message)
    }

    /// What is left of a text about a value, of mongod's or of whoever else's, when all that may be one is gone: numbers, what
    /// stands in quotes or braces, and what follows a colon, where mongod prints strings without quotes.
    package static func valueMessage(_ message: String) -> String {
        let mark = " :: caused by ::"
        // What mongod was about stays as it is, up to the first mark: a value may hold another.
        let start = message.firstRange(of: mark).map(\.upperBound) ?? message.startIndex
        let head = isOfEvaluation(String(message[..<start])) ? start : message.startIndex
        let rest = withoutQuoted(serverMessage(String(message[head...])))
        var kept: [String] = []
        for cause in rest.split(separator: mark, omittingEmptySubsequences: false).map(String.init) {
            let cut = cutBehindColon(cause)
            kept.append(withoutNumbers(cut))
            // What follows may belong to the value that was cut.
            if cut != cause { break }
        }
        return message[..<head] + kept.joined(separator: mark)
    }

    /// Without what stands in single quotes, but for the names of an operator's arguments.
    ///
    /// mongod does not escape a quote, so that a value may hold some: all from the first to the last goes.
    private static func withoutQuoted(_ text: String) -> String {
        var quotes = text.indices.filter { text[$0] == "'" && !text.isApostrophe($0) }[...]
        while quotes.count > 1, let open = quotes.first {
            let close = quotes[quotes.startIndex + 1]
            guard arguments.contains(String(text[text.index(after: open)..<close])) else { break }
            quotes = quotes.dropFirst(2)
        }
        guard let open = quotes.first, let close = quotes.last else { return text }
        return text[..<open] + "'…'" + (open == close ? "" : text[text.index(after: close)...])
    }

    /// The names of operators' arguments that mongod quotes: as values they would tell nothing.
    private static let arguments: Set = [
        "input", "to", "unit", "amount", "date", "startDate", "endDate", "startOfWeek", "binSize", "timezone", "format",
        "year",
        "month", "day", "hour", "minute", "second", "millisecond", "isoWeekYear", "isoWeek", "isoDayOfWeek",
        "dateString",
        "chars", "find", "replacement", "regex", "options", "n", "k", "v", "field", "value", "as", "cond", "in",
    ]

    /// Behind the colon of "$substrCP: …" the text goes on.
    private static func cutBehindColon(_ text: String) -> String {
        var start = text.startIndex
        while let colon = text[start...].firstRange(of: ": ") {
            let isOperator = text[start..<colon.lowerBound].drop { $0 == " " }.wholeMatch(of: /\$[A-Za-z0-9]+/) != nil
            guard isOperator else { return text[..<colon.upperBound] + "…" }
            start = colon.upperBound
        }
        return text
    }

    /// Numbers, dates and booleans are values; how many bits a number has is none, nor is a digit of a name.
    private static func withoutNumbers(_ text: String) -> String {
        text.replacing(/(?<name>[$A-Za-z_][$A-Za-z0-9_]*)|(?<bits>[0-9]+-bit)|[0-9][-+0-9.:TZEe]*/) { match in
            if let name = match.name { return ["true", "false", "NaN", "inf", "Infinity"].contains(name) ? "#" : name }
            return match.bits == nil ? "#" : match.0
        }
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

extension String {
    /// Whether the quote there stands inside of a word, as in "can't".
    fileprivate func isApostrophe(_ index: Index) -> Bool {
        index != startIndex && self[self.index(before: index)].isLetter
            && self[self.index(after: index)...].first?.isLetter == true
            || self[..<index].last?.isNumber == true && self[self.index(after: index)...].hasPrefix("s ")
    }
}
