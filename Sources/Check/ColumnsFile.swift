package import Checking
package import LocatedYAML
import ServerSchema

/// Reads the file with the columns of the clients' PowerSync schema.
///
/// The file maps the name of each collection to a mapping of its top-level fields to `text`, `integer` or `real`.
package enum ColumnsFile {
    /// Reads the file at `path`.
    /// - Throws: ``LocatedError`` if the file cannot be read or does not match the format.
    package static func read(at path: String) throws(LocatedError) -> [ClientTable] {
        try parse(try YAMLFile.text(at: path), path: path)
    }

    /// Reads the file's text; `path` is for messages.
    package static func parse(_ text: String, path: String) throws(LocatedError) -> [ClientTable] {
        var tables: [ClientTable] = []
        for (collection, node) in try YAMLFile.root(of: text, path: path).entries(of: "the file of columns") {
            var columns: [ClientTable.Column] = []
            for (field, value) in try node.entries(of: "the columns of \"\(collection)\"") {
                if let parent = field.split(separator: ".").first, field.contains(".") {
                    throw node.key(field).error(
                        "\"\(field)\" is no column: a column is a field at the top level, and what is inside one "
                            + "arrives as its JSON text; state \"\(parent)\" as text")
                }
                columns.append(.init(name: field, type: try type(value, of: field)))
            }
            tables.append(ClientTable(collection: collection, columns: columns))
        }
        return tables
    }

    private static func type(_ node: YAMLNode, of field: String) throws(LocatedError) -> ClientTable.ColumnType {
        let text = try node.text(of: "the column \"\(field)\"")
        if let type = ClientTable.ColumnType(rawValue: text) { return type }
        let names = ClientTable.ColumnType.allCases.map(\.rawValue)
        let hint = Spelling.hint(for: text, among: names).map { " (\($0))" } ?? ""
        throw node.error("the column \"\(field)\" must be text, integer or real, not \"\(text)\"\(hint)")
    }
}
