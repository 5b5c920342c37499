internal import CPCRE2

/// A compiled regular expression of the schema keyword `pattern` or `patternProperties`.
///
/// PCRE2 replaces the PCRE 8 that mongod links up to 6.0. Expressions that PCRE 8 accepts and PCRE2 refuses are
/// rewritten (``PatternRewriting``). After a thread's first match, matching allocates nothing.
public final class Pattern: Sendable {
    /// The units in which an expression reads texts.
    public enum Mode: Sendable {
        /// Texts are read as UTF-8, for the keyword `pattern`; a text that is not UTF-8 does not match.
        case characters
        /// Texts are read as bytes, for `patternProperties`, as mongod does.
        case bytes
    }

    /// The expression, as the schema spells it.
    public let text: String

    /// The reason why PCRE2, and so MongoDB 6.1 and later, refuses the expression; `nil` when it does not.
    public let refusalByPCRE2: String?

    private let code: Code

    /// Compiles a regular expression.
    /// - Throws: ``PatternError/invalid(reason:offset:)`` or ``PatternError/containsNUL``.
    public init(_ text: String, mode: Mode) throws(PatternError) {
        guard !text.utf8.contains(0) else { throw .containsNUL }
        self.text = text
        let compiled = try PatternRewriting.compile(text, mode: mode)
        code = compiled.code
        refusalByPCRE2 = compiled.refusal?.reason
        _ = try PatternRewriting.compile(WrappedText.of(text), mode: mode)
    }

    /// Whether the expression matches somewhere in the bytes `[start, start + length)` of `bytes`.
    /// - Throws: ``PatternError/undecided`` when PCRE2 gives up.
    public func matches(_ bytes: RawSpan, at start: Int, length: Int) throws(PatternError) -> Bool {
        let result = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
            let subject = unsafe buffer.baseAddress?.advanced(by: start).assumingMemoryBound(to: UInt8.self)
            return unsafe code.match(subject, length: length)
        }
        if result >= 0 { return true }
        guard Code.isDecided(result) else { throw .undecided }
        return false
    }

    /// Whether the expression matches somewhere in the text.
    /// - Throws: ``PatternError/undecided`` when PCRE2 gives up.
    public func matches(_ text: String) throws(PatternError) -> Bool {
        let bytes = Array(text.utf8)
        return try matches(unsafe bytes.span.bytes, at: 0, length: bytes.count)
    }
}
