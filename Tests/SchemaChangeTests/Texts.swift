import BSON
import SchemaChange
import ServerSchema

let people = Namespace(database: "app", collection: "Person")

/// Reads the schema of a collection from JSON.
func schema(_ text: String, file: String = "s", of namespace: Namespace = people) throws -> CollectionSchema {
    try ServerSchema.read(text: text, file: file, namespace: namespace).collections[0]
}

/// Returns a schema with these properties and an `_id`, as JSON.
func type(_ properties: String, required: String = "", title: String? = "Person") -> String {
    let title = title.map { #""title": "\#($0)", "# } ?? ""
    let id = properties.contains(#""_id""#) ? "" : #""_id": {"bsonType": "objectId"}"#
    let all = [id, properties].filter { !$0.isEmpty }.joined(separator: ", ")
    return #"{\#(title)"required": [\#(required)], "properties": {\#(all)}}"#
}

/// Returns a schema with a property `x` and an `_id`, as JSON.
func x(_ node: String, required: Bool = false) -> String {
    type(#""x": \#(node)"#, required: required ? #""x""# : "")
}

/// Returns the changes between two schemas, each as `code path: server client, description`.
func changes(_ old: String, _ new: String) throws -> [String] {
    SchemaDiff.changes(from: try schema(old), to: try schema(new)).map(\.row)
}

extension SchemaChange {
    var row: String { "\(code) \(path): \(server.rawValue) \(client.rawValue), \(description)" }
}

// The schemas of single values, as JSON.
let string = #"{"bsonType": "string"}"#
let int = #"{"bsonType": "int"}"#
let long = #"{"bsonType": "long"}"#
let double = #"{"bsonType": "double"}"#
let decimal = #"{"bsonType": "decimal"}"#
let objectID = #"{"bsonType": "objectId"}"#

func list(_ element: String) -> String { #"{"bsonType": "array", "items": \#(element)}"# }
func set(_ element: String) -> String { #"{"bsonType": "array", "uniqueItems": true, "items": \#(element)}"# }
func dictionary(_ value: String) -> String { #"{"bsonType": "object", "additionalProperties": \#(value)}"# }
func embedded(_ title: String, _ properties: String, required: String = "") -> String {
    #"{"title": "\#(title)", "bsonType": "object", "required": [\#(required)], "properties": {\#(properties)}}"#
}
