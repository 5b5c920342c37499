/// Removes document values and secrets from texts of the server, the driver or the user.
package enum Redaction {
    /// Returns a message of a server or the driver without its quotations from documents.
    ///
    /// Text in braces (echoed commands and documents) and in double quotes (string values) is removed. mongod does not
    /// escape braces and quotes inside a value, so everything from the first to the last of them is removed. Names,
    /// which mongod puts in single quotes, stay. A message about a duplicate key or a missing privilege is cut off
    /// where it begins to quote.
    package static func serverMessage(_ message: String) -> String {
        for start in ["dup key:", "First element:"] {
            if let found = message.firstRange(of: start) { return message[..<found.upperBound] + " {…}" }
        }
        let refused = "to execute command { "
        if let found = message.firstRange(of: refused) {
            // The command's name stays, because it shows which privilege is missing.
            let command = message[found.upperBound...].prefix { $0.isLetter && $0.isASCII }
            return message[..<found.lowerBound] + "to execute command \(command) {…}"
        }
        guard let start = message.firstIndex(where: { $0 == "{" || $0 == "\"" }) else { return message }
        let quotes = message[start] == "\""
        let end = message[start...].dropFirst().lastIndex { $0 == "}" || $0 == "\"" }
        return message[..<start] + (quotes ? "\"…\"" : "{…}") + (end.map { message[$0...].dropFirst() } ?? "")
    }

    /// Whether a server's message reports a failure while the server evaluated documents.
    ///
    /// Any part of such a message may be a value.
    ///
    /// mongod writes "PlanExecutor error during aggregation", "Plan executor error during update" and the like, and
    /// mongos repeats these texts.
    static func isOfEvaluation(_ message: String) -> Bool { message.contains("xecutor error during ") }

    /// Returns the server's reason for refusing a statement of a write, without values.
    ///
    /// A document caused the refusal, so most parts of the message may be values.
    static func writeMessage(_ message: String, _ code: MongoError.Code) -> String {
        code == .duplicateKey ? serverMessage(message) : valueMessage(message)
    }

    /// Removes every part that may be a value from a message about a problem with a value.
    ///
    /// The message may come from mongod or elsewhere. The removed parts are numbers, text in quotes or braces, and text
    /// after a colon, where mongod prints strings without quotes.
    package static func valueMessage(_ message: String) -> String {
        let mark = " :: caused by ::"
        // The part up to the first " :: caused by ::" is kept if it says that mongod was evaluating documents. Text
        // after it may contain values, even values that look like another " :: caused by ::".
        let start = message.firstRange(of: mark).map(\.upperBound) ?? message.startIndex
        let head = isOfEvaluation(String(message[..<start])) ? start : message.startIndex
        let rest = withoutQuoted(serverMessage(String(message[head...])))
        var kept: [String] = []
        for cause in rest.split(separator: mark, omittingEmptySubsequences: false).map(String.init) {
            let cut = cutAfterColon(cause)
            kept.append(withoutNumbers(cut))
            // If a value was cut off here, the text after the next " :: caused by ::" might be part of that value and
            // not another cause, so it is dropped.
            if cut != cause { break }
        }
        return message[..<head] + kept.joined(separator: mark)
    }

    /// Removes text in single quotes, except the names of an operator's arguments.
    ///
    /// mongod does not escape quotes, and a value may contain quotes. The names are therefore kept only up to the first
    /// quoted text that is no such name. Everything from the opening quote of that text to the last quote is removed.
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

    /// The names of operators' arguments, which mongod puts in single quotes in its messages.
    ///
    /// Messages keep these names. If a value contains such a name, the name reveals nothing about the value.
    private static let arguments: Set = [
        "input", "to", "unit", "amount", "date", "startDate", "endDate", "startOfWeek", "binSize", "timezone", "format",
        "year",
        "month", "day", "hour", "minute", "second", "millisecond", "isoWeekYear", "isoWeek", "isoDayOfWeek",
        "dateString",
        "chars", "find", "replacement", "regex", "options", "n", "k", "v", "field", "value", "as", "cond", "in",
    ]

    /// Removes the text after the first colon.
    ///
    /// A colon after an operator's name, as in "$substrCP: …", is skipped.
    private static func cutAfterColon(_ text: String) -> String {
        var start = text.startIndex
        while let colon = text[start...].firstRange(of: ": ") {
            let isOperator = text[start..<colon.lowerBound].drop { $0 == " " }.wholeMatch(of: /\$[A-Za-z0-9]+/) != nil
            guard isOperator else { return text[..<colon.upperBound] + "…" }
            start = colon.upperBound
        }
        return text
    }

    /// Replaces numbers, dates and booleans by `#`, because they are values.
    ///
    /// Bit counts, such as `32-bit`, and digits in names stay.
    private static func withoutNumbers(_ text: String) -> String {
        text.replacing(/(?<name>[$A-Za-z_][$A-Za-z0-9_]*)|(?<bits>[0-9]+-bit)|[0-9][-+0-9.:TZEe]*/) { match in
            if let name = match.name { return ["true", "false", "NaN", "inf", "Infinity"].contains(name) ? "#" : name }
            return match.bits == nil ? "#" : match.0
        }
    }
}

extension String {
    /// Whether the quote at `index` is an apostrophe, as in "can't" or "5's".
    fileprivate func isApostrophe(_ index: Index) -> Bool {
        index != startIndex && self[self.index(before: index)].isLetter
            && self[self.index(after: index)...].first?.isLetter == true
            || self[..<index].last?.isNumber == true && self[self.index(after: index)...].hasPrefix("s ")
    }
}
