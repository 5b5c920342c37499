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

/// A part of a whole, as reports show it.
struct Share {
    let part: Double

    init(_ count: Int, of whole: Int) { part = whole == 0 ? 0 : Double(count) / Double(whole) }
    init(_ part: Double) { self.part = part }

    /// Such as `99.87%`: two digits of the smaller part, and neither 0% nor 100% for what is only nearly so.
    var text: String {
        if part <= 0 { return "0%" }
        if part >= 1 { return "100%" }
        if part < 0.000_001 { return "<0.0001%" }
        let digits = part > 0.5 ? 1 - part : part
        // As many digits behind the point as show two of the smaller part.
        let places = digits >= 0.01 ? 1 : digits >= 0.001 ? 2 : digits >= 0.000_1 ? 3 : 4
        var scale = 100.0
        for _ in 0..<places { scale *= 10 }
        let whole = Int((part * scale).rounded(part > 0.5 ? .down : .up))
        var unit = 1
        for _ in 0..<places { unit *= 10 }
        let fraction = String(whole % unit)
        var padded = String(repeating: "0", count: places - fraction.count) + fraction
        // What is exact needs no zeros to say so.
        if abs(Double(whole) / scale - part) < 1e-12 { while padded.hasSuffix("0") { padded.removeLast() } }
        return padded.isEmpty ? "\(whole / unit)%" : "\(whole / unit).\(padded)%"
    }
}
