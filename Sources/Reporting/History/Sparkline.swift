/// Draws values over time as one character each, scaled from 0 to the largest value.
enum Sparkline {
    private static let steps: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// The characters for a terminal without Unicode.
    ///
    /// They do not include `#` and `:`, because a line that begins with these characters can be a command to a build
    /// server.
    private static let plainSteps: [Character] = ["_", ".", "-", "~", "=", "+", "*", "@"]

    /// Returns one character for each value.
    /// - Parameter values: the values; `nil` is shown as a blank.
    static func text(_ values: [Double?], isPlain: Bool) -> String {
        let steps = isPlain ? plainSteps : steps
        let maximum = values.compactMap(\.self).max() ?? 0
        return String(
            values.map { value -> Character in
                guard let value else { return " " }
                guard value > 0 else { return steps[0] }
                // A value above 0 never gets the lowest character, so that it can be distinguished from 0.
                return steps[max(1, Int((value / maximum * Double(steps.count - 1)).rounded()))]
            })
    }
}
