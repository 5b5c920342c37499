/// HTML in which each interpolated text is escaped and becomes one line.
struct HTML: ExpressibleByStringInterpolation {
    let text: String

    /// Takes text that is HTML already.
    init(stringLiteral text: String) { self.text = text }

    init(stringInterpolation parts: Parts) { text = parts.text }

    struct Parts: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ text: String) { self.text += Markup.line(text) }

        /// Appends a sentence, in which a text between backticks is code.
        mutating func appendInterpolation(sentence text: String) {
            self.text += Markup.line(text).replacing(/`([^`]*)`/) { "<code>\($0.1)</code>" }
        }

        mutating func appendInterpolation(_ number: Int) { text += "\(number)" }

        mutating func appendInterpolation(_ level: Report.Level) { text += "\(level)" }

        mutating func appendInterpolation(_ html: HTML) { text += html.text }

        mutating func appendInterpolation(_ blocks: [HTML]) { text += blocks.map(\.text).joined() }
    }
}
