import BSON
import Importing
import ServerSchema
import Testing

/// Returns the import of a schema's text.
func imported(
    _ schema: String, named file: String = "schema.json", schema name: String? = nil, keepsStrings: Bool = false
) throws -> ImportedSchema {
    try ImportedSchema(text: schema, named: file, schema: name, keepsStrings: keepsStrings)
}

/// Returns the imported schema of the field `x`, for a JSON Schema in which `x` has the given schema.
func field(_ schema: String, keepsStrings: Bool = false) throws -> BSONValue? {
    let whole = try imported(#"{"properties": {"x": \#(schema)}}"#, keepsStrings: keepsStrings)
    return whole.root["properties"]?.document?["x"]
}

/// Returns the notes on the field `x`, for a JSON Schema in which `x` has the given schema.
///
/// Each note has its kind and its message.
func notes(_ schema: String) throws -> [String] {
    try imported(#"{"properties": {"x": \#(schema)}}"#).notes.map { "\($0.kind.rawValue): \($0.message)" }
}

/// Returns the value of a text in extended JSON.
func bson(_ json: String) throws -> BSONValue { try BSONValue(extendedJSON: json) }

/// Returns the error that an import throws, as text; `nil` if it throws none.
func refusal(_ schema: String, named file: String = "schema.json", schema name: String? = nil) -> String? {
    do {
        _ = try imported(schema, named: file, schema: name)
        return nil
    } catch {
        return "\(error)"
    }
}

extension ImportedSchema {
    /// The imported schema, as the value of `$jsonSchema`.
    var root: BSONDocument { validator["$jsonSchema"]?.document ?? [:] }
}
