package import BSON
package import Inferring
import ServerSchema

/// The text of a schema's file: the keys in the order of the schema, indented by two spaces.
package struct SchemaFileText: Sendable {
    private let schema: BSONDocument

    package init(_ schema: BSONDocument) { self.schema = schema }

    /// The text of the schema's file, which ends with a line break.
    package var text: String { json.text() + "\n" }

    var json: ReportValue { Self.json(.object(schema)) }

    /// Returns the text of each schema file that a report proposes, with the first collection that the file describes.
    ///
    /// A Prisma schema is one file for all collections.
    package static func of(_ report: InferReport) -> [(namespace: Namespace, text: String)] {
        let schemas = report.collections.map(\.inference)
        let models = schemas.compactMap(\.prisma)
        guard let first = schemas.first, models.count == schemas.count else {
            return schemas.map { ($0.namespace, SchemaFileText($0.schema).text) }
        }
        let whole = PrismaSchema(
            models: models.flatMap(\.models), types: models.flatMap(\.types), enums: models.flatMap(\.enums))
        return [(first.namespace, whole.text)]
    }

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
