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

    var line: String { text(nil) }

    /// Returns the JSON text, indented by two spaces per level.
    /// - Parameter lineBreak: a line break and the indentation of the value; `nil` for JSON on one line.
    func text(_ lineBreak: String? = "\n") -> String {
        var text = ""
        write(to: &text, lineBreak)
        return text
    }

    /// Appends the JSON text to one string, because a string for each value would hold all text once per level.
    private func write(to text: inout String, _ lineBreak: String?) {
        switch self {
        case .object(let members):
            Self.write("{", members, "}", to: &text, lineBreak) { text, member, inner in
                text += member.0.quotedAsJSON + (inner == nil ? ":" : ": ")
                member.1.write(to: &text, inner)
            }
        case .array(let elements): Self.write("[", elements, "]", to: &text, lineBreak) { $1.write(to: &$0, $2) }
        case .string(let string): text += string.quotedAsJSON
        case .integer(let number): text += "\(number)"
        case .bool(let flag): text += flag ? "true" : "false"
        case .null: text += "null"
        case .extended(let value): text += Self.extended(value)
        }
    }

    private static func write<Item>(
        _ open: String, _ items: [Item], _ close: String, to text: inout String, _ lineBreak: String?,
        _ write: (inout String, Item, String?) -> Void
    ) {
        let inner = lineBreak.map { $0 + "  " }
        text += open
        for (index, item) in items.enumerated() {
            text += (index > 0 ? "," : "") + (inner ?? "")
            write(&text, item, inner)
        }
        text += (items.isEmpty ? "" : lineBreak ?? "") + close
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

    /// Returns an object with the member `record`, which begins a JSON line and names its kind.
    static func record(_ name: String) -> ReportValue { ["record": name] }

    var members: [(String, ReportValue)] { if case .object(let members) = self { members } else { [] } }

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
