extension Duration {
    /// The duration in milliseconds, without the fraction of a millisecond.
    package var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }

    /// The duration in seconds, including their fraction.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// Reads a duration as it is written on the command line and in job files, such as `500ms`, `30s`, `10m` or `2h`.
    ///
    /// Returns `nil` for any other text, and for more than 1,000,000,000 of a unit.
    package init?(text: String) {
        guard let unit = Self.units.first(where: { text.hasSuffix($0.name) }),
            let count = Int64(text.dropLast(unit.name.count)), (0...1_000_000_000).contains(count)
        else { return nil }
        self = .milliseconds(count * unit.milliseconds)
    }

    /// The duration as text, such as `90s` or `2h`: a whole number of the largest possible unit.
    ///
    /// A fraction of a millisecond is left out.
    package var text: String {
        let total = milliseconds
        guard total != 0 else { return "0s" }
        for unit in Self.units.reversed() where total % unit.milliseconds == 0 {
            return "\(total / unit.milliseconds)\(unit.name)"
        }
        return "\(total)ms"
    }
}
