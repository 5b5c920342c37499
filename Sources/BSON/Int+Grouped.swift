extension Int {
    /// The number as text with thousands separators, such as `1,234,567`.
    package var grouped: String {
        let digits = String(magnitude)
        let groups = digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text.append(",") }
            text.append(digit.element)
        }
        return (self < 0 ? "-" : "") + groups
    }
}
