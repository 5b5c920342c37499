import BSON

/// A JSON value, in which the keys of an object keep their order.
enum ReportValue: Sendable {
    case object([(String, ReportValue)])
    case array([ReportValue])
    case string(String)
    case integer(Int)
    case bool(Bool)
    case null
    /// A BSON value, as relaxed extended JSON on one line.
    case extended(BSONValue)

    /// Returns the JSON text, indented by two spaces per level.
    func text(_ indent: String = "") -> String {
        switch self {
        case .object(let members):
            Self.block("{", "}", indent, members.map { "\(ShellLiteral.string($0)): \($1.text(indent + "  "))" })
        case .array(let elements): Self.block("[", "]", indent, elements.map { $0.text(indent + "  ") })
        case .string(let text): ShellLiteral.string(text)
        case .integer(let number): "\(number)"
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        case .extended(let value): Self.extended(value)
        }
    }

    /// The JSON text on one line, for JSON lines.
    var line: String {
        switch self {
        case .object(let members):
            "{\(members.map { "\(ShellLiteral.string($0)):\($1.line)" }.joined(separator: ","))}"
        case .array(let elements): "[\(elements.map(\.line).joined(separator: ","))]"
        default: text()
        }
    }

    private static func block(_ open: String, _ close: String, _ indent: String, _ items: [String]) -> String {
        guard !items.isEmpty else { return open + close }
        let lines = items.map { "\(indent)  \($0)" }.joined(separator: ",\n")
        return "\(open)\n\(lines)\n\(indent)\(close)"
    }

    /// Returns the value as extended JSON, or only the name of its type if it cannot be written so, such as an `_id` of
    /// a deprecated type.
    private static func extended(_ value: BSONValue) -> String {
        do throws(BSONError) {
            // The characters that libbson does not escape are all inside of strings, so they can be escaped here.
            return try value.extendedJSON(.relaxed).printable
        } catch {
            return "{ \"$type\" : \"\(value.type)\" }"
        }
    }
}
