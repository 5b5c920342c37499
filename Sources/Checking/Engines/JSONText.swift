import BSON

/// The texts that sync engines derive from BSON values: the text of an `_id` is a row's key, and the text of a document
/// is its JSON.
///
/// The texts are those of PowerSync; the other engines are assumed to derive the same. Source: powersync-service,
/// modules/module-mongodb/src/replication/bufferToSqlite.ts.
struct JSONText {
    private var bytes: [UInt8] = []

    /// Returns the text of a top-level value; `nil` for a value without a text, such as null, or binary data that is
    /// not a UUID.
    /// - Throws: ``BSONError`` if the bytes inside an object are damaged.
    static func text(of element: BSONElement, in view: borrowing BSONView) throws(BSONError) -> [UInt8]? {
        switch TypeMask(element.type) {
        case .string, .symbol: return view.stringBytes(element).copied()
        case .object, .array, .regex, .javascript, .javascriptWithScope, .dbPointer:
            var text = JSONText()
            try text.append(element, of: view, depth: 0)
            return text.bytes
        default: return try view.value(element).plainText.map { Array($0.utf8) }
        }
    }

    private mutating func append(content view: borrowing BSONView, isArray: Bool, depth: Int) throws(BSONError) {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        var isFirst = true
        append(isArray ? "[" : "{")
        var position = view.firstPosition
        while let element = try view.next(&position) {
            guard isArray || Self.isWritten(element, of: view) else { continue }
            if !isFirst { append(",") }
            isFirst = false
            if !isArray {
                append(quoted: view.nameBytes(element).copied())
                append(":")
            }
            try append(element, of: view, depth: depth + 1)
        }
        append(isArray ? "]" : "}")
    }

    /// Whether an object's field appears in JSON: undefined values and binary data that is no UUID do not.
    private static func isWritten(_ element: BSONElement, of view: borrowing BSONView) -> Bool {
        switch TypeMask(element.type) {
        case .undefined: false
        case .binData: view.binarySubtype(element) == 4 && view.binaryLength(element) == 16
        default: true
        }
    }

    private mutating func append(_ element: BSONElement, of view: borrowing BSONView, depth: Int) throws(BSONError) {
        switch TypeMask(element.type) {
        case .object, .array:
            try append(content: try view.document(element), isArray: element.type == .array, depth: depth)
        case .string, .symbol: append(quoted: view.stringBytes(element).copied())
        case .double:
            let number = view.double(element)
            append(number.isFinite ? BSONValue.scriptText(of: number) : "null")
        case .int, .long, .timestamp, .bool: append(try view.value(element).plainText ?? "null")
        default: try append(rare: try view.value(element), depth: depth)
        }
    }

    private mutating func append(rare value: BSONValue, depth: Int) throws(BSONError) {
        switch value {
        case .regex(let pattern, let options):
            append(["pattern": pattern, "options": options])
            append("}")
        case .javascript(let code):
            append(["code": code])
            append(",\"scope\":null}")
        case .javascriptWithScope(let code, let scope):
            append(["code": code])
            append(",\"scope\":")
            try append(content: scope.view, isArray: false, depth: depth)
            append("}")
        case .dbPointer(let name, let id):
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            append(["collection": String(parts[parts.count - 1]), "oid": id.description])
            if parts.count > 1 {
                append(",\"db\":")
                append(quoted: Array(parts[0].utf8))
            }
            append(",\"fields\":{}}")
        default:
            guard let text = value.plainText else { return append("null") }
            append(quoted: Array(text.utf8))
        }
    }

    private mutating func append(_ texts: KeyValuePairs<String, String>) {
        for (index, (name, text)) in texts.enumerated() {
            append("\(index == 0 ? "{" : ",")\"\(name)\":")
            append(quoted: Array(text.utf8))
        }
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }

    private mutating func append(quoted text: [UInt8]) {
        let escapes = Self.escapes
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            if byte < escapes.count, !escapes[Int(byte)].isEmpty {
                bytes += escapes[Int(byte)]
            } else {
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// For each character up to the backslash, its escape; empty if it needs none.
    private static let escapes: [[UInt8]] = (0...UInt8(ascii: "\\")).map { byte in
        let short: [UInt8: String] = [
            8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 0x22: "\\\"", 0x5C: "\\\\",
        ]
        let code = "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
        return Array((short[byte] ?? (byte < 0x20 ? code : "")).utf8)
    }
}

extension JSONText {
    /// Returns the length of a document's row in UTF-16 code units, in which JavaScript counts, and in bytes of UTF-8.
    ///
    /// The row is JSON text: PowerSync's query `SELECT _id AS id, *` writes the `_id` twice.
    static func rowSize(of view: borrowing BSONView) throws(BSONError) -> (units: Int, bytes: Int) {
        let row = try JSONText(rowOf: view).bytes
        return (row.reduce(0) { $0 + (0x80..<0xC0 ~= $1 ? 0 : $1 >= 0xF0 ? 2 : 1) }, row.count)
    }

    private init(rowOf view: borrowing BSONView) throws(BSONError) {
        append("{")
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let text = try Self.text(of: element, in: view)
            if text == nil, element.type == .binData { continue }  // only the query can make text of this
            let isID = view.nameBytes(element).isEqual(to: "_id")
            for name in isID ? ["id", "_id"] : [view.name(element)] {
                append(quoted: Array(name.utf8))
                append(":")
                switch TypeMask(element.type) {
                case .null, .undefined, .minKey, .maxKey: append("null")
                case .double, .int, .long, .timestamp, .bool: bytes += text ?? []
                default: append(quoted: Array(String(decoding: text ?? [], as: UTF8.self).utf8))
                }
                append(",")
            }
        }
    }
}

extension BSONValue {
    /// The text of a scalar; `nil` for strings, symbols and containers, and for a value without a text.
    fileprivate var plainText: String? {
        switch self {
        case .int(let number): "\(number)"
        case .long(let number): "\(number)"
        case .timestamp(let bits): "\(bits)"
        case .bool(let flag): flag ? "1" : "0"
        case .double(let number): Self.topText(of: number)
        case .decimal(let number): number.description
        case .objectID(let id): id.description
        case .date(let milliseconds): ServerTime(milliseconds: milliseconds).iso8601WithMilliseconds
        case .binary(subtype: 4, let bytes) where bytes.count == 16: UUIDText.canonical(bytes)
        case .string, .invalidString, .symbol, .object, .array, .regex, .javascript, .javascriptWithScope, .dbPointer,
            .binary, .null, .undefined, .minKey, .maxKey:
            nil
        }
    }

    /// PowerSync converts each whole number at the top level to a `BigInt`, so its text has all digits and no exponent.
    private static func topText(of number: Double) -> String {
        guard number.isFinite else { return number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity" }
        return number.rounded(.towardZero) == number ? number.wholeDigits : scriptText(of: number)
    }

    /// Returns a finite double as JavaScript writes it inside objects and arrays: with the fewest digits that identify
    /// it, without a point if it is a whole number, and with an exponent only from 1e21 on and below 1e-6.
    fileprivate static func scriptText(of number: Double) -> String {
        // Below 2^53, the digits of a whole number are the fewest that identify it.
        if number.magnitude < 0x1p53, let whole = Int64(exactly: number) { return "\(whole)" }
        let text = "\(number)"
        guard let mark = text.firstIndex(of: "e") else { return text.hasSuffix(".0") ? "\(text.dropLast(2))" : text }
        let (mantissa, exponent) = (text[..<mark], Int(text[text.index(after: mark)...]) ?? 0)
        let plain = mantissa.hasSuffix(".0") ? mantissa.dropLast(2) : mantissa
        let (sign, digits) = (number < 0 ? "-" : "", plain.filter { $0 != "." && $0 != "-" })
        if exponent >= -6, exponent < 0 {
            return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits
        }
        if exponent > 0, exponent < 21 {
            return sign + digits + String(repeating: "0", count: max(0, exponent + 1 - digits.count))
        }
        return "\(plain)e\(exponent < 0 ? "-" : "+")\(abs(exponent))"
    }
}
