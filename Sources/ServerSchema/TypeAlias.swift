internal import BSON

/// A type that a schema can require of a value; the raw value is its alias in `bsonType`.
///
/// Source: `semantics.md` section 3.1 of the project's reference; the MongoDB manual, "Available Types".
public enum SchemaType: String, Hashable, Sendable, CaseIterable {
    /// The BSON type that has the name of the case.
    case double, string, object, array, binData, objectId, bool, date, null, regex, javascript, int, timestamp, long,
        decimal, minKey, maxKey, symbol, undefined, dbPointer, javascriptWithScope
    /// Any of the four numeric types.
    case number
    /// Binary data of subtype 4 and 16 bytes; App Services only.
    case uuid
    /// Any value that can sync; App Services only.
    case mixed
}

/// A type as a schema file spells it.
struct TypeAlias {
    /// The type that the name in the file means.
    var type: SchemaType
    /// A remark on how the file spells the type's name; `nil` if there is none.
    var note: String?

    /// Reads a value of `bsonType`; `nil` if it is not the name of a type.
    init?(bsonType text: String) {
        switch text {
        case "float": self.init(type: .double, note: "bsonType \"float\" is read as \"double\"")
        case "binary": self.init(type: .binData, note: "bsonType \"binary\" is read as \"binData\"")
        case "function": self.init(type: .javascript, note: "bsonType \"function\" is read as \"javascript\"")
        case "undefined", "dbPointer", "javascriptWithScope":
            guard let type = SchemaType(rawValue: text) else { return nil }
            self.init(type: type, note: "bsonType \"\(text)\" is not a type of App Services")
        default:
            guard let type = SchemaType(rawValue: text) else { return nil }
            self.init(type: type)
        }
    }

    /// Reads a value of `type`; `nil` if it is not the name of a JSON type.
    init?(jsonType text: String) {
        switch text {
        case "object": self.init(type: .object)
        case "array": self.init(type: .array)
        case "number": self.init(type: .number)
        case "boolean": self.init(type: .bool)
        case "string": self.init(type: .string)
        case "null": self.init(type: .null)
        default: return nil
        }
    }

    private init(type: SchemaType, note: String? = nil) {
        self.type = type
        self.note = note
    }

    /// Returns advice on what to write instead of an unknown `bsonType`; `nil` if there is none.
    static func remedy(bsonType text: String) -> String? {
        switch text.lowercased() {
        case "integer", "int32": "did you mean \"int\"?"
        case "int64", "bigint": "did you mean \"long\"?"
        case "boolean": "did you mean \"bool\"?"
        case "datetime": "did you mean \"date\"?"
        case "decimal128": "did you mean \"decimal\"?"
        case "list", "set": "did you mean \"array\"? A set is an array with uniqueItems"
        case "any": "did you mean \"mixed\"?"
        default: Spelling.hint(for: text, among: SchemaType.allCases.map(\.rawValue))
        }
    }

    /// Returns advice on what to write instead of an unknown `type`; `nil` if there is none.
    static func remedy(jsonType text: String) -> String? {
        if text == "integer" { return "write bsonType \"int\" or \"long\"" }
        if TypeAlias(bsonType: text) != nil { return "write bsonType \"\(text)\"" }
        return Spelling.hint(for: text, among: ["object", "array", "number", "boolean", "string", "null"])
    }

    /// Returns advice on what to write instead of one of MongoDB's numeric type codes; `nil` if the text is not such a
    /// code.
    static func remedy(code text: String) -> String? {
        guard let code = Int(text), let byte = UInt8(exactly: code & 0xFF), code >= -1, code <= 0x7F else { return nil }
        let name = BSONType(rawValue: byte).description
        return SchemaType(rawValue: name).map { "write \"\($0.rawValue)\"" }
    }
}
