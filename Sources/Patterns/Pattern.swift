internal import CPCRE2

/// A compiled regular expression of the schema keyword `pattern` or `patternProperties`, or of `$regexMatch`.
///
/// mongod up to 6.0 uses PCRE 8, and this type uses PCRE2. Some expressions that PCRE 8 accepts and PCRE2 refuses are
/// rewritten (``PatternRewriting``). ``matches(_:at:length:)`` usually allocates no memory, except at the first match
/// in each thread.
public final class Pattern: Sendable {
    /// The units of text that an expression matches.
    public enum Mode: Sendable {
        /// The expression matches characters of UTF-8, for the keyword `pattern` and for `$regexMatch`; a text that is
        /// not UTF-8 does not match.
        case characters
        /// The expression matches bytes, as in mongod for the keyword `patternProperties`.
        case bytes
    }

    /// The expression as it was given, before any rewriting.
    public let text: String

    /// The reason why PCRE2, and therefore MongoDB 6.1 and later, refuses the expression; `nil` if PCRE2 accepts it.
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

    /// Whether the expression matches anywhere in the `length` bytes from `start` on.
    /// - Throws: ``PatternError/undecided`` if PCRE2 gives up.
    public func matches(_ bytes: RawSpan, at start: Int, length: Int) throws(PatternError) -> Bool {
        let result = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
            let subject = unsafe buffer.baseAddress?.advanced(by: start).assumingMemoryBound(to: UInt8.self)
            return unsafe code.match(subject, length: length)
        }
        if result >= 0 { return true }
        guard Code.isDecided(result) else { throw .undecided }
        return false
    }

    /// Whether the expression matches anywhere in the text.
    /// - Throws: ``PatternError/undecided`` if PCRE2 gives up.
    public func matches(_ text: String) throws(PatternError) -> Bool {
        let bytes = Array(text.utf8)
        return try matches(unsafe bytes.span.bytes, at: 0, length: bytes.count)
    }
}
