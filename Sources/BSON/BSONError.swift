/// A defect in bytes that should be BSON, or in text that should be extended JSON.
public struct BSONError: Error, Hashable, Sendable {
    /// The kind of defect.
    ///
    /// Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The short stable name of the kind of defect.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes end before the value ends.
        public static let truncated = Self(rawValue: "truncated")
        /// A length field has an impossible value.
        public static let invalidLength = Self(rawValue: "invalid length")
        /// A type byte that the BSON specification does not define.
        public static let unknownType = Self(rawValue: "unknown type")
        /// A document, or a text in it, lacks the NUL at its end.
        public static let missingTerminator = Self(rawValue: "missing terminator")
        /// The byte of a bool is neither 0 nor 1.
        public static let invalidBool = Self(rawValue: "invalid bool")
        /// The bytes are not UTF-8 where UTF-8 is required.
        public static let invalidUTF8 = Self(rawValue: "invalid UTF-8")
        /// There are more levels of nesting than the reader accepts.
        public static let tooDeep = Self(rawValue: "too deep")
        /// Extended JSON cannot express the document: its text is not UTF-8, or a binary of the old subtype 2 is
        /// malformed.
        public static let notPrintable = Self(rawValue: "no form in extended JSON")
        /// A value could not be checked, because a regular expression needed too many steps or too much memory for it.
        public static let undecided = Self(rawValue: "undecided")
        /// The text is not extended JSON.
        public static let invalidJSON = Self(rawValue: "invalid extended JSON")
    }

    /// The kind of defect.
    public let code: Code
    /// The offset of the defect from the start of the buffer, in bytes; 0 if the input was extended JSON.
    public let offset: Int
    /// An explanation in addition to the code, or `nil`; it never contains a value of a document.
    public let detail: String?

    /// Creates an error; this initializer is never inlined, so that loops which can fail at every byte stay small.
    @inline(never)
    public init(_ code: Code, at offset: Int, detail: String? = nil) {
        self.code = code
        self.offset = offset
        self.detail = detail
    }
}

extension BSONError: CustomStringConvertible {
    /// The error as text: the code, the offset and the detail.
    public var description: String {
        let place = code == .invalidJSON ? "" : " at byte \(offset)"
        return "\(code.rawValue)\(place)" + (detail.map { ": \($0)" } ?? "")
    }
}
