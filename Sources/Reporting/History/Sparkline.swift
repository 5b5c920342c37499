/// Figures in the order of time as a line of one character each, from 0 to the greatest.
enum Sparkline {
    private static let steps: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// The same where only ASCII is shown, without what build servers take for commands.
    private static let plainSteps: [Character] = ["_", ".", "-", "~", "=", "+", "*", "@"]

    /// - Parameter values: `nil` where there is none, which is left empty.
    static func text(_ values: [Int?], isPlain: Bool) -> String {
        let steps = isPlain ? plainSteps : steps
        let most = values.compactMap(\.self).max() ?? 0
        return String(
            values.map { value -> Character in
                guard let value else { return " " }
                guard value > 0 else { return steps[0] }
                // What is not nothing can be told from it.
                return steps[max(1, Int((Double(value) / Double(most) * Double(steps.count - 1)).rounded()))]
            })
    }
}
