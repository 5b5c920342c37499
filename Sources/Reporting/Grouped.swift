import BSON

extension Int {
    /// The number and the noun, such as `1 document` or `2,000 documents`.
    package var documents: String { counted("document") }

    package var entries: String { self == 1 ? "1 entry" : "\(grouped) entries" }

    /// Returns the number with a noun whose plural ends in s.
    package func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(grouped) \(noun)s" }
}

extension Sequence {
    /// Returns the elements in groups with equal keys; the groups are in the order in which the keys first occur.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var places: [Key: Int] = [:]
        return reduce(into: []) { groups, element in
            let key = key(element)
            let place = places[key, default: groups.count]
            if place == groups.count { groups.append((key, [])) }
            groups[place].elements.append(element)
            places[key] = place
        }
    }
}

/// A part of a whole, which reports show as a percentage.
struct Share {
    let part: Double

    init(_ count: Int, of whole: Int) { part = whole == 0 ? 0 : Double(count) / Double(whole) }
    init(_ part: Double) { self.part = part }

    /// The share in percent, such as `99.87%`.
    ///
    /// A share is shown as 0% or 100% only if it is exactly that. A rounded share has one to four decimal places: as
    /// many as show two significant digits of the share or, above 50%, of its difference from 100%. A share below
    /// 0.0001% is shown as `<0.0001%`.
    var text: String {
        if part <= 0 { return "0%" }
        if part >= 1 { return "100%" }
        if part < 0.000_001 { return "<0.0001%" }
        let digits = part > 0.5 ? 1 - part : part
        let places = digits >= 0.01 ? 1 : digits >= 0.001 ? 2 : digits >= 0.000_1 ? 3 : 4
        let unit = (0..<places).reduce(1) { unit, _ in unit * 10 }
        let scale = Double(100 * unit)
        let whole = Int((part * scale).rounded(part > 0.5 ? .down : .up))
        let fraction = String(whole % unit)
        var padded = String(repeating: "0", count: places - fraction.count) + fraction
        // An exact value needs no trailing zeros.
        if abs(Double(whole) / scale - part) < 1e-12 { while padded.hasSuffix("0") { padded.removeLast() } }
        return padded.isEmpty ? "\(whole / unit)%" : "\(whole / unit).\(padded)%"
    }
}
