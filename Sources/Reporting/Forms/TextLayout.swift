/// Where a text for a person goes.
package struct TextLayout: Sendable {
    /// The columns of a terminal; `nil` for what has none: then lines are as long as they need be.
    package var width: Int?
    /// Whether escape sequences may be used.
    package var isColored = false
    /// Whether it shows ASCII alone.
    package var isPlain = false
    /// Whether it is kept: then it holds what a reader at a terminal asks for with flags.
    package var isKept = false
    /// Whether the notes on a result are left out.
    package var hidesNotes = false

    /// For a terminal, or for what reads standard output.
    package init(width: Int? = nil, isColored: Bool = false) {
        self.width = width
        self.isColored = isColored
    }

    /// For a report file.
    package static var file: TextLayout {
        var layout = TextLayout()
        layout.isKept = true
        return layout
    }
}

extension TextLayout {
    /// Notes as they are shown.
    func notes(_ notes: [String]) -> [String] { hidesNotes ? [] : notes }

    /// A report with its notes as they are shown.
    func shown<R>(_ report: R, notes: WritableKeyPath<R, [String]>) -> R {
        var report = report
        report[keyPath: notes] = self.notes(report[keyPath: notes])
        return report
    }
}
