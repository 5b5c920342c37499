extension Int {
    /// The number with its thousands apart: `1,234,567`.
    package var grouped: String {
        var digits = ""
        for (place, digit) in String(magnitude).reversed().enumerated() {
            if place > 0, place % 3 == 0 { digits.append(",") }
            digits.append(digit)
        }
        return (self < 0 ? "-" : "") + String(digits.reversed())
    }

    /// So many documents.
    package var documents: String { counted("document") }

    /// So many entries.
    package var entries: String { self == 1 ? "1 entry" : "\(grouped) entries" }

    /// So many of a thing whose plural ends in s.
    package func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(grouped) \(noun)s" }
}
