/// Finds the end of one JSON object.
///
/// libbson stops after the first document of a text and does not report a second one, and it accepts an array as a
/// document. This scan refuses a text with a second document, and an array.
struct JSONObjectScanner {
    private var depth = 0
    private var isQuoted = false
    private var isEscaped = false
    private var isDone = false

    /// Throws if the text is anything but one object and white space; the parser checks the content of the object.
    ///
    /// - Parameter prefix: the number of bytes at the start that positions in errors do not count.
    static func checkOneObject(_ text: String, prefix: Int) throws(BSONError) {
        var scanner = JSONObjectScanner()
        var offset = -prefix
        for byte in text.utf8 {
            if let problem = scanner.problem(with: byte) {
                throw BSONError(.invalidJSON, at: 0, detail: "\(problem) at position \(max(offset, 0))")
            }
            offset += 1
        }
        guard scanner.isDone else { throw BSONError(.invalidJSON, at: 0, detail: "the text ends too early") }
    }

    private mutating func problem(with byte: UInt8) -> String? {
        guard !isQuoted else {
            quoted(byte)
            return nil
        }
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: return nil
        case _ where isDone: return "more text after the document"
        case UInt8(ascii: "{"): depth += 1
        case _ where depth == 0: return "no document"
        case UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: "\""): isQuoted = true
        default: break
        }
        isDone = depth == 0
        return nil
    }

    private mutating func quoted(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isQuoted = false
        }
    }
}
