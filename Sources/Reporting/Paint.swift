import BSON
import Rainbow

/// Adds colour codes for a terminal to text, if colours are on.
///
/// The caller decides whether colours are on. The Rainbow library's own string properties decide by a global variable
/// that depends on standard output.
struct Paint: Sendable {
    let isOn: Bool

    func bold(_ text: String) -> String { applying(Self.bold, to: text) }

    /// Returns the line that stands above the findings of a section.
    func heading(_ section: Report.Section) -> String {
        let about = section.about.isEmpty ? "" : " (\(section.about.printable))"
        let summary = section.summary.isEmpty ? "" : ": \(section.summary.printable)"
        return bold(section.name.printable) + about + summary
    }

    /// Returns the text in the colour of the level.
    func callAsFunction(_ level: Report.Level, _ text: String) -> String {
        switch level {
        case .good: applying(Self.green, to: text)
        case .notice: text
        case .warning: applying(Self.yellow, to: text)
        case .error: applying(Self.red, to: text)
        }
    }

    /// All escape codes that this type adds to a text.
    static let codes = [bold, green, yellow, red, end]

    /// Returns the number of characters that a terminal shows of a text, without the codes of colours and links.
    static func visibleCount(of text: Substring) -> Int {
        guard text.unicodeScalars.contains("\u{1B}") else { return text.count }
        var (count, rest) = (codes.reduce(text.count) { $0 - text.ranges(of: $1).count * $1.count }, text)
        while let escape = rest.firstIndex(of: "\u{1B}") {
            let link = Hyperlink.code(at: rest[escape...])
            count -= link?.count ?? 0
            rest = rest[escape...].dropFirst(link?.count ?? 1)
        }
        return count
    }

    private static let bold = code(Style.bold.value)
    private static let green = code(NamedColor.green.value + Style.bold.value)
    private static let yellow = code(NamedColor.yellow.value + Style.bold.value)
    private static let red = code(NamedColor.red.value + Style.bold.value)
    private static let end = "\u{1B}[0m"

    private static func code(_ numbers: [UInt8]) -> String {
        "\u{1B}[\(numbers.map(String.init).joined(separator: ";"))m"
    }

    private func applying(_ code: String, to text: String) -> String { isOn ? code + text + Self.end : text }
}
