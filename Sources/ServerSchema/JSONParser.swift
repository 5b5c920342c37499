/// Reads JSON (RFC 8259) strictly, and records the position of each name and value in the file.
///
/// Foundation's parser gives no positions, and drops one of two values that have the same name in an object.
package struct JSONParser {
    /// The deepest nesting of arrays and objects that is accepted.
    package static let maximumDepth = 200
    /// The largest number of values that are accepted; each takes up to a kibibyte of memory until a schema is checked.
    private static let maximumValues = 100_000
    /// The longest name or text in bytes; several copies of it are in memory at once.
    static let longestText = 1_000_000

    let file: String
    let bytes: [UInt8]
    var offset = 0
    private var line = 1
    private var lineStart = 0
    private var depth = 0
    private var count = 0

    private init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            offset = 3
            lineStart = 3
        }
    }

    /// Reads the bytes of a file, which must be one JSON value in UTF-8; a byte order mark may come first.
    /// - Parameter file: the path that locations and errors state.
    package static func parse(_ bytes: [UInt8], file: String) throws(SchemaError) -> LocatedJSON {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw SchemaError(
                .notUTF8, at: SourceLocation(whole: file),
                "the file is not UTF-8 at byte \(error.byteOffsets.lowerBound)", remedy: "save it as UTF-8")
        }
        var parser = JSONParser(bytes, file: file)
        return try parser.wholeFile()
    }

    private mutating func wholeFile() throws(SchemaError) -> LocatedJSON {
        skipBlanks()
        guard offset < bytes.count else {
            throw SchemaError(
                .syntax, at: SourceLocation(whole: file), "the file is empty", remedy: "a placeholder is written {}")
        }
        let value = try value()
        let end = here
        skipBlanks()
        guard offset == bytes.count else { throw failure("expected the end of the file after this value", at: end) }
        return value
    }

    private mutating func value() throws(SchemaError) -> LocatedJSON {
        let start = here
        count += 1
        guard count <= Self.maximumValues else {
            throw SchemaError(
                .tooLarge, at: start, "the file holds more than \(Self.maximumValues) values", remedy: "divide it")
        }
        guard offset < bytes.count else { throw failure("the file ends where a value is expected") }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return LocatedJSON(value: .object(try members()), location: start)
        case UInt8(ascii: "["): return LocatedJSON(value: .array(try elements()), location: start)
        case UInt8(ascii: "\""): return LocatedJSON(value: .scalar(.string(try string())), location: start)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return LocatedJSON(value: .scalar(.number(try number())), location: start)
        default: return LocatedJSON(value: .scalar(try literal()), location: start)
        }
    }

    private mutating func members() throws(SchemaError) -> [LocatedJSON.Member] {
        var result: [LocatedJSON.Member] = []
        try open()
        if close("}") { return result }
        while true {
            let nameLocation = here
            guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else {
                throw failure(result.isEmpty ? "expected '\"' or '}'" : "expected a name in double quotes after ','")
            }
            let name = try string()
            let end = here
            skipBlanks()
            guard take(":") else { throw failure("expected ':' after this name", at: end) }
            skipBlanks()
            result.append(LocatedJSON.Member(name: name, nameLocation: nameLocation, value: try value()))
            if try separatorOrEnd("}") { return result }
        }
    }

    private mutating func elements() throws(SchemaError) -> [LocatedJSON] {
        var result: [LocatedJSON] = []
        try open()
        if close("]") { return result }
        while true {
            result.append(try value())
            if try separatorOrEnd("]") { return result }
        }
    }
}

extension JSONParser {
    /// The position of the next byte in the file.
    var here: SourceLocation { SourceLocation(file: file, line: line, column: offset - lineStart + 1) }

    func failure(_ message: String, at location: SourceLocation? = nil) -> SchemaError {
        SchemaError(.syntax, at: location ?? here, message)
    }

    private mutating func skipBlanks() {
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\n"):
                line += 1
                lineStart = offset + 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return
            }
            offset += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func open() throws(SchemaError) {
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw SchemaError(.tooDeep, at: here, "values are nested deeper than \(Self.maximumDepth) levels")
        }
        offset += 1
        skipBlanks()
    }

    private mutating func close(_ bracket: Unicode.Scalar) -> Bool {
        guard take(bracket) else { return false }
        depth -= 1
        return true
    }

    /// Moves past the next comma or closing bracket, and returns whether it was the bracket.
    private mutating func separatorOrEnd(_ bracket: Unicode.Scalar) throws(SchemaError) -> Bool {
        let end = here
        skipBlanks()
        if close(bracket) { return true }
        let comma = here
        guard take(",") else { throw failure("expected ',' or '\(bracket)' after this value", at: end) }
        skipBlanks()
        if offset < bytes.count, bytes[offset] == UInt8(ascii: bracket) {
            throw failure("a ',' must not come before '\(bracket)'", at: comma)
        }
        return false
    }
}

extension JSONParser {
    /// Reads `true`, `false` or `null`.
    mutating func literal() throws(SchemaError) -> JSONScalar {
        let word = bytes[offset...].prefix {
            $0 >= UInt8(ascii: "A") && $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "}")
        }
        let value: JSONScalar
        switch String(decoding: word, as: UTF8.self) {
        case "true": value = .bool(true)
        case "false": value = .bool(false)
        case "null": value = .null
        default: throw failure(unexpected(bytes[offset]))
        }
        offset += word.count
        return value
    }

    private func unexpected(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments"
        case UInt8(ascii: "'"): "expected a value; write text in double quotes"
        default: "expected a value"
        }
    }

    mutating func number() throws(SchemaError) -> String {
        let start = offset
        let place = here
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let integer = digits()
        guard integer > 0 else { throw failure("this is not a number", at: place) }
        if integer > 1, bytes[offset - integer] == UInt8(ascii: "0") {
            throw failure("a number must not begin with 0", at: place)
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            guard digits() > 0 else { throw failure("expected a digit after '.'") }
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[offset]) { offset += 1 }
            guard digits() > 0 else { throw failure("expected a digit in this exponent") }
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = offset
        while offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) { offset += 1 }
        return offset - start
    }

    /// Returns the error for a text that is longer than ``longestText``.
    static func tooLong(at location: SourceLocation) -> SchemaError {
        SchemaError(.tooLarge, at: location, "a text has more than \(longestText) bytes", remedy: "shorten it")
    }

    /// Reads the string that begins at `offset`, and resolves its escapes.
    mutating func string() throws(SchemaError) -> String {
        let start = here
        offset += 1
        var text: [UInt8] = []
        while offset < bytes.count {
            guard text.count <= Self.longestText else { throw Self.tooLong(at: start) }
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw failure("this string is not closed on its line", at: start)
            case 0..<0x20: throw failure("a control character must be written \\u00XX")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw failure("this string is not closed", at: start)
    }

    private mutating func escape(into text: inout [UInt8]) throws(SchemaError) {
        let place = here
        guard offset + 1 < bytes.count else { throw failure("the file ends in an escape", at: place) }
        let character = bytes[offset + 1]
        offset += 2
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(character)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: Array(String(try scalar(from: place)).utf8))
        default: throw failure("this escape does not exist in JSON", at: place)
        }
    }

    /// Reads the Unicode scalar of a `\u` escape, or of the two `\u` escapes of a surrogate pair.
    private mutating func scalar(from place: SourceLocation) throws(SchemaError) -> Character {
        var code = try fourDigits(from: place)
        if (0xD800..<0xDC00).contains(code), bytes[offset...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
            offset += 2
            let low = try fourDigits(from: place)
            guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair", at: place) }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw failure("half of a surrogate pair", at: place) }
        return Character(scalar)
    }

    private mutating func fourDigits(from place: SourceLocation) throws(SchemaError) -> UInt32 {
        let digits = bytes[offset...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("expected four hexadecimal digits after \\u", at: place) }
        offset += 4
        return code
    }
}
