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

    /// Returns the value as extended JSON, or only the name of its type if it has no extended JSON, such as an `_id` of
    /// a deprecated type.
    private static func extended(_ value: BSONValue) -> String {
        do throws(BSONError) {
            // Control characters that libbson leaves in its JSON are all inside strings, so they can be escaped here.
            return try value.extendedJSON(.relaxed).printable
        } catch {
            return "{ \"$type\" : \"\(value.type)\" }"
        }
    }
}

/// A value that a report shows as JSON.
protocol ReportValueConvertible {
    var reportValue: ReportValue { get }
}

/// A literal such as `["job": job.name, "chunks": 3]` is an object. A value that is `nil` is JSON `null`.
extension ReportValue: ExpressibleByDictionaryLiteral, ReportValueConvertible {
    init(dictionaryLiteral members: (String, any ReportValueConvertible)...) {
        self = .object(members.map { ($0, $1.reportValue) })
    }

    var reportValue: ReportValue { self }

    /// Returns an object with the member `record`: the name of the kind of a JSON line, and the first member of the
    /// line.
    static func record(_ name: String) -> ReportValue { ["record": name] }

    /// The members of an object; empty for other values.
    var members: [(String, ReportValue)] { if case .object(let members) = self { members } else { [] } }

    /// Returns an object with the members of both objects.
    static func + (left: ReportValue, right: ReportValue) -> ReportValue { .object(left.members + right.members) }
}

extension String: ReportValueConvertible { var reportValue: ReportValue { .string(self) } }
extension Int: ReportValueConvertible { var reportValue: ReportValue { .integer(self) } }
extension Bool: ReportValueConvertible { var reportValue: ReportValue { .bool(self) } }
extension BSONValue: ReportValueConvertible { var reportValue: ReportValue { .extended(self) } }
extension BSONDocument: ReportValueConvertible { var reportValue: ReportValue { .extended(.object(self)) } }

extension Array: ReportValueConvertible where Element: ReportValueConvertible {
    var reportValue: ReportValue { .array(map(\.reportValue)) }
}

extension Optional: ReportValueConvertible where Wrapped: ReportValueConvertible {
    var reportValue: ReportValue { self?.reportValue ?? .null }
}
