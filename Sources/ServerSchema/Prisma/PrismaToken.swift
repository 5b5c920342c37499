internal import BSON

/// A token of a Prisma file with its position.
struct PrismaToken {
    var kind: Kind
    /// The text of the token; for a string, the value of the string.
    var text: String
    var location: SourceLocation
    /// The text of the `///` comments that document a line: at its first name those directly above the line, at its end
    /// the one after its last token.
    var documentation = ""

    enum Kind: Hashable {
        case name, string, number
        /// A punctuation mark; `@@` is one mark.
        case mark
        case lineEnd, fileEnd
    }

    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }

    /// The token as an error message shows it.
    var words: String {
        switch kind {
        case .name, .number: "\"\(text)\""
        case .string: "a string"
        case .mark: "'\(text)'"
        case .lineEnd: "the end of the line"
        case .fileEnd: "the end of the file"
        }
    }
}

/// Divides a Prisma file into tokens, without its comments.
struct PrismaLexer {
    /// The number of errors after which the rest of the file is not read.
    static let mostErrors = 1_000
    /// The number of bytes after which the rest of a comment is not read.
    private static let mostComment = 10_000

    private let file: String
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var lineStart = 0
    private(set) var errors: [SchemaError] = []
    /// The last `///` comments: consecutive lines of comments only, or the comment at the end of a line.
    private var comment = (text: "", line: 0, isWholeLine: false)

    init(_ text: String, file: String) {
        bytes = Array(text.utf8)
        self.file = file
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (offset, lineStart) = (3, 3) }
    }

    /// Whether the rest of the file is not read, because it has too many errors, or too long a text.
    var isFull: Bool { errors.count >= Self.mostErrors || errors.last?.code == .tooLarge }

    private var here: SourceLocation { SourceLocation(file: file, line: line, column: offset - lineStart + 1) }

    private func byte(_ ahead: Int = 0) -> UInt8? {
        offset + ahead < bytes.count ? bytes[offset + ahead] : nil
    }

    /// Returns the next token; at the end of the file, and after too many errors, always a token of that kind.
    mutating func next() -> PrismaToken {
        while let first = byte(), !isFull {
            switch first {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): offset += 1
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
                let start = offset
                while let next = byte(), next != UInt8(ascii: "\n") { offset += 1 }
                if bytes[start..<offset].starts(with: "///".utf8) { keepComment(from: start) }
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipBlockComment()
            case UInt8(ascii: "\n"): return lineEnd()
            case UInt8(ascii: "\""):
                if let token = string() { return token }
            case _ where Self.isAlphanumeric(first) || first == UInt8(ascii: "-") || first == UInt8(ascii: "_"):
                return word()
            default:
                if let token = mark() { return token }
            }
        }
        return PrismaToken(kind: .fileEnd, text: "", location: here)
    }

    private mutating func keepComment(from start: Int) {
        let isWholeLine = bytes[lineStart..<start].allSatisfy { $0 == 0x20 || $0 == 0x09 }
        let continues = isWholeLine && comment.isWholeLine && comment.line == line - 1
        comment = (continues ? comment.text : "", line, isWholeLine)
        // Only an annotation such as `@deprecated`, and the text after it, is read.
        guard comment.text.utf8.count < Self.mostComment,
            !comment.text.isEmpty || bytes[start..<offset].contains(UInt8(ascii: "@"))
        else { return }
        let text = bytes[start + 3..<min(offset, start + Self.mostComment)]
        comment.text += "\n" + String(decoding: text, as: UTF8.self)
    }

    private mutating func lineEnd() -> PrismaToken {
        var token = PrismaToken(kind: .lineEnd, text: "\n", location: here)
        if comment.line == line, !comment.isWholeLine { token.documentation = comment.text }
        offset += 1
        line += 1
        lineStart = offset
        return token
    }

    /// Skips a comment in `/* */`, which documents the next line, as `///` does.
    ///
    /// Source: pull request 5083 of prisma/prisma-engines, of December 2024.
    private mutating func skipBlockComment() {
        let (place, start) = (here, offset)
        let isWholeLine = bytes[lineStart..<start].allSatisfy { $0 == 0x20 || $0 == 0x09 }
        offset += 2
        while offset < bytes.count, !(byte() == UInt8(ascii: "*") && byte(1) == UInt8(ascii: "/")) {
            if byte() == UInt8(ascii: "\n") { _ = lineEnd() } else { offset += 1 }
        }
        if offset == bytes.count {
            errors.append(SchemaError(.syntax, at: place, "this comment has no end", remedy: "end it with */"))
        }
        let text = bytes[start + 2..<max(start + 2, min(offset, start + Self.mostComment))]
        if text.contains(UInt8(ascii: "@")) {
            comment = ("\n" + String(decoding: text, as: UTF8.self), line, isWholeLine)
        }
        offset = min(offset + 2, bytes.count)
    }

    private mutating func mark() -> PrismaToken? {
        let location = here
        let scalar = Unicode.Scalar(bytes[offset])
        if "{}()[],:.=?!@".unicodeScalars.contains(scalar) {
            let isDouble = scalar == "@" && byte(1) == UInt8(ascii: "@")
            offset += isDouble ? 2 : 1
            return PrismaToken(kind: .mark, text: isDouble ? "@@" : String(scalar), location: location)
        }
        // All bytes of a character outside of ASCII are reported as one character.
        let start = offset
        repeat { offset += 1 } while byte().map { $0 & 0xC0 == 0x80 } ?? false
        let character = String(decoding: bytes[start..<offset], as: UTF8.self)
        errors.append(SchemaError(.syntax, at: location, "unexpected character \(character.quotedAsJSON)"))
        return nil
    }

    /// Reads a name or a number, and decides by its characters which of the two it is.
    private mutating func word() -> PrismaToken {
        let (location, start) = (here, offset)
        offset += 1
        while let next = byte(), Self.isAlphanumeric(next) || next == UInt8(ascii: "_") || next == UInt8(ascii: "-") {
            offset += 1
        }
        if Self.isInteger(bytes[start..<offset]), byte() == UInt8(ascii: "."), byte(1).map(Self.isDigit) ?? false {
            offset += 1
            while let next = byte(), Self.isDigit(next) { offset += 1 }
            return PrismaToken(kind: .number, text: text(from: start), location: location)
        }
        let isNumber = Self.isInteger(bytes[start..<offset])
        var token = PrismaToken(kind: isNumber ? .number : .name, text: text(from: start), location: location)
        // A comment is only above the first name of a line, so that no token after it repeats the text.
        if comment.line == line - 1, comment.isWholeLine {
            token.documentation = comment.text
            comment.text = ""
        }
        return token
    }

    private func text(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

    private static func isInteger(_ bytes: ArraySlice<UInt8>) -> Bool {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes
        return !digits.isEmpty && digits.allSatisfy(isDigit)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) }

    /// Whether the client's programs can have the byte in a name.
    static func isNamePart(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || byte == UInt8(ascii: "_") }
}

extension PrismaLexer {
    /// Reads a string, which has the same escapes as in JSON; adds an error and returns `nil` if it is not valid.
    private mutating func string() -> PrismaToken? {
        let (location, start) = (here, offset)
        offset += 1
        while let next = byte(), next != UInt8(ascii: "\""), next != UInt8(ascii: "\n") {
            offset += next == UInt8(ascii: "\\") && byte(1) != UInt8(ascii: "\n") ? 2 : 1
        }
        offset = min(offset, bytes.count)
        guard byte() == UInt8(ascii: "\"") else {
            errors.append(
                SchemaError(
                    .syntax, at: location, "this string does not end on its line",
                    remedy: "end it with a quotation mark; a line break in it is written \\n"))
            return nil
        }
        offset += 1
        // The text is not copied before it is refused.
        guard offset - start <= JSONParser.longestText + 2 else {
            errors.append(JSONParser.tooLong(at: location))
            return nil
        }
        do throws(SchemaError) {
            let json = try JSONParser.parse(Array(bytes[start..<offset]), file: file)
            return PrismaToken(kind: .string, text: json.text ?? "", location: location)
        } catch {
            let column = location.column + max(0, error.location.column - 1)
            let place = SourceLocation(file: file, line: location.line, column: column)
            errors.append(SchemaError(.syntax, at: place, error.message, remedy: error.remedy))
            return nil
        }
    }
}
