package import BSON
import FoundationEssentials

extension BSONValue {
    /// The value in mongosh syntax.
    package var shellText: String { ShellLiteral.text(self) }
}

/// Writes values in mongosh syntax, so that a filter can be copied into mongosh.
enum ShellLiteral {
    static func text(_ value: BSONValue) -> String {
        switch value {
        case .double(let number): double(number)
        case .string(let text): string(text)
        case .invalidString: string(value.text ?? "")
        case .object(let document): object(document)
        case .array(let document): "[\(document.values.map(text).joined(separator: ", "))]"
        case .binary(let subtype, let bytes): binary(subtype, bytes)
        case .undefined: "undefined"
        case .objectID(let id): "ObjectId(\"\(id)\")"
        case .bool(let flag): flag ? "true" : "false"
        case .date(let milliseconds): "new Date(\(milliseconds))"
        case .null: "null"
        case .regex(let pattern, let options): "BSONRegExp(\(string(pattern)), \(string(options)))"
        case .dbPointer(let namespace, let id): "DBPointer(\(string(namespace)), ObjectId(\"\(id)\"))"
        case .javascript(let code): "Code(\(string(code)))"
        case .symbol(let text): "BSONSymbol(\(string(text)))"
        case .javascriptWithScope(let code, let scope): "Code(\(string(code)), \(object(scope)))"
        case .int(let number): "\(number)"
        case .timestamp(let stamp): "Timestamp({ t: \(stamp >> 32), i: \(stamp & 0xFFFF_FFFF) })"
        case .long(let number): "NumberLong(\"\(number)\")"
        case .decimal(let number): "NumberDecimal(\"\(number)\")"
        case .minKey: "MinKey()"
        case .maxKey: "MaxKey()"
        }
    }

    private static func double(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        // Without `Double()`, mongosh would read a whole number as an integer.
        return number == number.rounded() ? "Double(\(number))" : "\(number)"
    }

    private static func object(_ document: BSONDocument) -> String {
        let elements = (try? document.elements()) ?? []
        if elements.isEmpty { return "{}" }
        return "{ \(elements.map { "\(name($0.name)): \(text($0.value))" }.joined(separator: ", ")) }"
    }

    /// Returns a field's name as the key of an object; `__proto__` becomes a computed key.
    ///
    /// In mongosh `"__proto__": value` would set the object's prototype, but a computed key does not.
    private static func name(_ name: String) -> String { name == "__proto__" ? "[\(string(name))]" : string(name) }

    private static func binary(_ subtype: UInt8, _ bytes: [UInt8]) -> String {
        "BinData(\(subtype), \"\(Data(bytes).base64EncodedString())\")"
    }

    /// Returns a string in quotation marks, valid in both JSON and JavaScript.
    static func string(_ text: String) -> String { text.quotedAsJSON }
}
