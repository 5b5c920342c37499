/// Reads JSON (RFC 8259) strictly, and remembers where everything stands.
///
/// Foundation's parser gives no positions, and merges names that a file holds twice.
package struct JSONParser {
    /// More levels of arrays and objects than this are refused.
    package static let maximumDepth = 200

    let file: String
    let bytes: [UInt8]
    var offset = 0
    private var line = 1
    private var lineStart = 0
    private var depth = 0

    private init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            offset = 3
            lineStart = 3
        }
    }

    /// Reads a file's bytes, which must be one JSON value in UTF-8; a byte order mark may precede it.
    /// - Parameter file: the path that locations and errors carry.
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
        guard offset < bytes.count else { throw failure("the file ends where a value is expected") }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return LocatedJSON(value: .object(try members()), location: start)
        case UInt8(ascii: "["): return LocatedJSON(value: .array(try elements()), location: start)
        case UInt8(ascii: "\""): return LocatedJSON(value: .string(try string()), location: start)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return LocatedJSON(value: .number(try number()), location: start)
        default: return LocatedJSON(value: try literal(), location: start)
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
    /// Where the next byte is.
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

    /// Whether the bracket follows; when a comma does, moves to what stands behind it.
    private mutating func separatorOrEnd(_ bracket: Unicode.Scalar) throws(SchemaError) -> Bool {
        let end = here
        skipBlanks()
        if close(bracket) { return true }
        let comma = here
        guard take(",") else { throw failure("expected ',' or '\(bracket)' after this value", at: end) }
        skipBlanks()
        if offset < bytes.count, bytes[offset] == UInt8(ascii: bracket) {
            throw failure("a ',' must not stand before '\(bracket)'", at: comma)
        }
        return false
    }
}
