/// A defect in bytes that should be BSON, or in text that should become BSON.
public struct BSONError: Error, Hashable, Sendable {
    /// The kind of defect.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short stable name.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes end before the value does.
        public static let truncated = Self(rawValue: "truncated")
        /// A length field has a value that is not possible there.
        public static let invalidLength = Self(rawValue: "invalid length")
        /// A type byte that the BSON specification does not define.
        public static let unknownType = Self(rawValue: "unknown type")
        /// A string, document or name lacks its closing NUL.
        public static let missingTerminator = Self(rawValue: "missing terminator")
        /// A bool that is neither 0 nor 1.
        public static let invalidBool = Self(rawValue: "invalid bool")
        /// Text that is not UTF-8 where UTF-8 is required.
        public static let invalidUTF8 = Self(rawValue: "invalid UTF-8")
        /// More levels of nesting than ``BSONView/maximumDepth``.
        public static let tooDeep = Self(rawValue: "too deep")
        /// A document that extended JSON cannot express: its text is not UTF-8, or a binary of the old subtype 2 is
        /// malformed.
        public static let notPrintable = Self(rawValue: "no form in extended JSON")
        /// A value that could not be checked, because a regular expression took too many steps or too much memory on
        /// it.
        public static let undecided = Self(rawValue: "undecided")
        /// Text that is not extended JSON.
        public static let invalidJSON = Self(rawValue: "invalid extended JSON")
    }

    /// The kind of defect.
    public let code: Code
    /// The byte where the defect was found, counted from the start of the buffer; 0 for text.
    public let offset: Int
    /// The parser's explanation beyond the code; it never contains a document's value.
    public let detail: String?

    /// Creates an error; never inlined, so that the loops that can fail at every byte stay small.
    @inline(never)
    public init(_ code: Code, at offset: Int, detail: String? = nil) {
        self.code = code
        self.offset = offset
        self.detail = detail
    }
}

extension BSONError: CustomStringConvertible {
    /// The code, the byte, and the detail.
    public var description: String {
        let place = code == .invalidJSON ? "" : " at byte \(offset)"
        return "\(code.rawValue)\(place)" + (detail.map { ": \($0)" } ?? "")
    }
}
