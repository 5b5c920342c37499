/// A compiled regular expression of `pattern` or `patternProperties`.
///
/// PCRE 8 is what servers up to 6.0 link; later ones link PCRE2, which reads some expressions otherwise. Matching
/// allocates nothing.
public final class Pattern: Sendable {
    /// How texts are read.
    public enum Mode: Sendable {
        /// As UTF-8: the keyword `pattern`. What is not UTF-8 matches nothing.
        case characters
        /// As bytes: `patternProperties`, as mongod has it.
        case bytes
    }

    /// The expression, as the schema spells it.
    public let text: String

    private let code: Code

    /// Compiles an expression.
    /// - Throws: ``PatternError/invalid(reason:offset:)`` or ``PatternError/containsNUL``.
    public init(_ text: String, mode: Mode) throws(PatternError) {
        guard !text.utf8.contains(0) else { throw .containsNUL }
        self.text = text
        code = try Code(text, mode: mode)
        _ = try Code(WrappedText.of(text), mode: mode)
    }

    /// Whether the expression matches somewhere in the bytes `[start, start + length)` of `bytes`.
    ///
    /// A match that takes too many steps is none, as mongod has it.
    public func matches(_ bytes: RawSpan, at start: Int, length: Int) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            // An empty text may have no address, and PCRE asks for one.
            guard let base = buffer.baseAddress else { return unsafe code.matches("", length: 0) }
            let subject = unsafe base.advanced(by: start).assumingMemoryBound(to: CChar.self)
            return unsafe code.matches(subject, length: length)
        }
    }

    /// Whether the expression matches somewhere in the text.
    public func matches(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return matches(unsafe bytes.span.bytes, at: 0, length: bytes.count)
    }
}
