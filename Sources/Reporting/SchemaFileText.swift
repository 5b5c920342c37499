package import BSON

/// The text of a schema's file: the keys in the order of the schema, indented by two spaces.
package struct SchemaFileText: Sendable {
    private let schema: BSONDocument

    /// Wraps a schema of either dialect.
    package init(_ schema: BSONDocument) { self.schema = schema }

    /// The text, which ends with a line break.
    package var text: String { json.text() + "\n" }

    /// The schema as a JSON value.
    var json: ReportValue { Self.json(.object(schema)) }

    private static func json(_ value: BSONValue) -> ReportValue {
        switch value {
        case .object(let document):
            .object(((try? document.elements()) ?? []).map { ($0.name, json($0.value)) })
        case .array(let elements): .array(elements.values.map(json))
        case .string(let text): .string(text)
        case .bool(let flag): .bool(flag)
        case .null: .null
        default: .extended(value)
        }
    }
}
