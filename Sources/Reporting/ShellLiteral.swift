package import BSON
import FoundationEssentials

/// Values in mongosh syntax, so that a filter can be copied into mongosh.
extension BSONValue {
    package var shellText: String {
        switch self {
        case .double(let number): Self.double(number)
        case .string(let text): text.quotedAsJSON
        case .invalidString: (text ?? "").quotedAsJSON
        case .object(let document): Self.object(document)
        case .array(let document): "[\(document.values.map(\.shellText).joined(separator: ", "))]"
        case .binary(let subtype, let bytes): "BinData(\(subtype), \"\(Data(bytes).base64EncodedString())\")"
        case .undefined: "undefined"
        case .objectID(let id): "ObjectId(\"\(id)\")"
        case .bool(let flag): flag ? "true" : "false"
        case .date(let milliseconds): "new Date(\(milliseconds))"
        case .null: "null"
        case .regex(let pattern, let options): "BSONRegExp(\(pattern.quotedAsJSON), \(options.quotedAsJSON))"
        case .dbPointer(let namespace, let id): "DBPointer(\(namespace.quotedAsJSON), ObjectId(\"\(id)\"))"
        case .javascript(let code): "Code(\(code.quotedAsJSON))"
        case .symbol(let text): "BSONSymbol(\(text.quotedAsJSON))"
        case .javascriptWithScope(let code, let scope): "Code(\(code.quotedAsJSON), \(Self.object(scope)))"
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
        return "{ \(elements.map { "\(name($0.name)): \($0.value.shellText)" }.joined(separator: ", ")) }"
    }

    /// Returns a field's name as the key of an object; `__proto__` becomes a computed key.
    ///
    /// In mongosh `"__proto__": value` would set the object's prototype, but a computed key does not.
    private static func name(_ name: String) -> String {
        name == "__proto__" ? "[\(name.quotedAsJSON)]" : name.quotedAsJSON
    }
}
