/// The reason why a regular expression cannot be used.
public enum PatternError: Error, Hashable, Sendable {
    /// The text is not a regular expression.
    ///
    /// `reason` is PCRE2's message, and `offset` the number of bytes that PCRE2 had read of the expression.
    case invalid(reason: String, offset: Int)
    /// The expression holds a NUL, which mongod refuses.
    case containsNUL
    /// A match took more steps, or more memory, than PCRE2 allows, so it is unknown whether the text matches.
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
