package import Checking
package import LocatedYAML
import ServerSchema

/// Reads the file with the columns of the clients' PowerSync schema.
///
/// The file maps the name of each collection to a mapping of its top-level fields to `text`, `integer` or `real`.
package enum ColumnsFile {
    /// Reads the file at `path`.
    /// - Throws: ``LocatedError`` if the file cannot be read or does not match the format.
    package static func read(at path: String) throws(LocatedError) -> [String: [String: EngineSettings.ColumnType]] {
        try parse(try YAMLFile.text(at: path), path: path)
    }

    /// Reads the file's text; `path` is for messages.
    package static func parse(
        _ text: String, path: String
    ) throws(LocatedError) -> [String: [String: EngineSettings.ColumnType]] {
        var tables: [String: [String: EngineSettings.ColumnType]] = [:]
        for (collection, node) in try YAMLFile.root(of: text, path: path).entries(of: "the file of columns") {
            tables[collection] = [:]
            for (field, value) in try node.entries(of: "the columns of \"\(collection)\"") {
                if let parent = field.split(separator: ".").first, field.contains(".") {
                    throw node.key(field).error(
                        "\"\(field)\" is no column: a column is a field at the top level, and what is inside one "
                            + "arrives as its JSON text; state \"\(parent)\" as text")
                }
                tables[collection]?[field] = try type(value, of: field)
            }
        }
        return tables
    }

    private static func type(_ node: YAMLNode, of field: String) throws(LocatedError) -> EngineSettings.ColumnType {
        let text = try node.text(of: "the column \"\(field)\"")
        if let type = EngineSettings.ColumnType(rawValue: text) { return type }
        let hint = Spelling.hint(for: text, among: EngineSettings.ColumnType.allCases.map(\.rawValue))
        throw node.error(
            "the column \"\(field)\" must be text, integer or real, not \"\(text)\"\(hint.map { " (\($0))" } ?? "")")
    }
}
