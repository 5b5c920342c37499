/// Values over time as a line of one character each, scaled from 0 to the largest value.
enum Sparkline {
    private static let steps: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// The same in ASCII, without the characters that build servers take for commands.
    private static let plainSteps: [Character] = ["_", ".", "-", "~", "=", "+", "*", "@"]

    /// - Parameter values: the values; `nil` is shown as a blank.
    static func text(_ values: [Int?], isPlain: Bool) -> String {
        let steps = isPlain ? plainSteps : steps
        let most = values.compactMap(\.self).max() ?? 0
        return String(
            values.map { value -> Character in
                guard let value else { return " " }
                guard value > 0 else { return steps[0] }
                // A value above 0 is always distinguishable from 0.
                return steps[max(1, Int((Double(value) / Double(most) * Double(steps.count - 1)).rounded()))]
            })
    }
}
