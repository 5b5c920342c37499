/// The reason why a regular expression cannot be used, or why a match has no result.
public enum PatternError: Error, Hashable, Sendable {
    /// The text is not a regular expression.
    ///
    /// `reason` is PCRE2's message, and `offset` is the number of bytes of the expression that PCRE2 had read.
    case invalid(reason: String, offset: Int)
    /// The expression contains a NUL, which mongod refuses.
    case containsNUL
    /// PCRE2 gave up, because the match took too many steps or too much memory: it is unknown whether the text matches.
    case undecided
}

extension PatternError: CustomStringConvertible {
    /// The reason, as one clause.
    public var description: String {
        switch self {
        case .invalid(let reason, let offset): "\(reason) (at byte \(offset))"
        case .containsNUL: "a regular expression must not hold a NUL"
        case .undecided: "the match was stopped: it takes too many steps or too much memory"
        }
    }
}
