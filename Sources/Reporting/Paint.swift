import Rainbow

/// Colours text when asked to.
///
/// Rainbow's own string properties decide by a global that looks at stdout; the decision is the caller's here.
struct Paint: Sendable {
    let isOn: Bool

    func bold(_ text: String) -> String { applying([.bold], to: text) }
    func green(_ text: String) -> String { applying(.green, to: text) }
    func yellow(_ text: String) -> String { applying(.yellow, to: text) }
    func red(_ text: String) -> String { applying(.red, to: text) }

    private func applying(_ color: NamedColor, to text: String) -> String {
        applying(codes: color.value + Style.bold.value, to: text)
    }

    private func applying(_ styles: [Style], to text: String) -> String {
        applying(codes: styles.flatMap(\.value), to: text)
    }

    private func applying(codes: [UInt8], to text: String) -> String {
        guard isOn else { return text }
        return "\u{1B}[\(codes.map(String.init).joined(separator: ";"))m\(text)\u{1B}[0m"
    }
}
