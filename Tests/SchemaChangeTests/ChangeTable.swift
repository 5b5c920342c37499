import BSON
import ServerSchema
import Testing

@testable import SchemaChange

/// A row of the documentation's table of changes: two apps that differ in one change, and the verdicts on the change.
struct ChangeRow: CustomTestStringConvertible {
    let kind: ChangeKind
    /// The title of the row for this change in the quick reference of the page "Update Your Schema"; `nil` if there is
    /// no such row.
    let quickReference: String?
    let server: SchemaChange.Verdict
    let client: SchemaChange.Verdict
    let old: ServerSchema
    let new: ServerSchema
    let renames: [String]
    let says: String

    init(
        _ kind: ChangeKind, _ server: SchemaChange.Verdict, _ client: SchemaChange.Verdict,
        quickReference: String? = nil, from old: ServerSchema, to new: ServerSchema, renames: [String] = [],
        says: String
    ) {
        (self.kind, self.server, self.client, self.quickReference) = (kind, server, client, quickReference)
        (self.old, self.new, self.renames, self.says) = (old, new, renames, says)
    }

    var testDescription: String { "\(kind.code): \(says)" }
}

private let breaking = SchemaChange.Verdict.breaking
private let additive = SchemaChange.Verdict.nonBreaking
private let pets = Namespace(database: "app", collection: "Pet")
private let toPet = #"{"bsonType": "objectId"}"#
private let nullable = #"{"bsonType": ["string", "null"]}"#

/// The rows for types and collections.
private let typeRows: [ChangeRow] = [
    ChangeRow(
        .typeAdded, additive, additive, quickReference: "Add an object type", from: apps(type("")),
        to: apps(type(""), type("", title: "Pet")), says: "type Pet is added"),
    ChangeRow(
        .typeRemoved, breaking, additive, quickReference: "Remove an object type",
        from: apps(type(""), type("", title: "Pet")), to: apps(type("")), says: "type Pet is removed"),
    ChangeRow(
        .typeRenamed, breaking, breaking, quickReference: "Change an object type name", from: apps(type("")),
        to: apps(type("", title: "Human")), says: "type Person is renamed to Human"),
    ChangeRow(
        .embeddedTypeRenamed, breaking, breaking, from: app(x(embedded("A", ""))), to: app(x(embedded("B", ""))),
        says: "x: type A is renamed to B"),
    ChangeRow(
        .collectionMoved, breaking, additive, from: app(type("")), to: app(type(""), pets),
        renames: ["app.Person=app.Pet"], says: "app.Person is moved to app.Pet"),
]

/// The rows for properties that are added, removed or renamed.
private let propertyRows: [ChangeRow] = [
    ChangeRow(
        .requiredAdded, additive, additive, quickReference: "Add a required property", from: app(type("")),
        to: app(x(string, required: true)), says: "x is added as a required string"),
    ChangeRow(
        .optionalAdded, additive, additive, quickReference: "Add an optional property", from: app(type("")),
        to: app(x(string)), says: "x is added as an optional string"),
    ChangeRow(
        .optionalAdded, additive, additive, quickReference: "Add an optional property", from: app(type("")),
        to: app(x(embedded("A", #""a": \#(int)"#))), says: "x is added as an optional embedded A"),
    ChangeRow(
        .requiredRemoved, breaking, additive, quickReference: "Remove a required property",
        from: app(x(string, required: true)), to: app(type("")), says: "x is removed"),
    ChangeRow(
        .optionalRemoved, breaking, additive, quickReference: "Remove an optional property", from: app(x(string)),
        to: app(type("")), says: "x is removed"),
    ChangeRow(
        .propertyRenamed, breaking, breaking, quickReference: "Change a property name", from: app(x(string)),
        to: app(type(#""y": \#(string)"#)), renames: ["Person.x=y"], says: "x is renamed to y"),
    ChangeRow(
        .optionalToRequired, breaking, breaking,
        quickReference: "Change property from optional to required", from: app(x(string)),
        to: app(x(string, required: true)), says: "x becomes required"),
    ChangeRow(
        .requiredToOptional, breaking, breaking,
        quickReference: "Change property from required to optional", from: app(x(string, required: true)),
        to: app(x(string)), says: "x becomes optional"),
    ChangeRow(
        .defaultAdded, additive, additive, from: app(x(string, required: true)),
        to: app(x(#"{"bsonType": "string", "default": "a"}"#, required: true)), says: "x gets a default"),
    ChangeRow(
        .defaultChanged, additive, additive, from: app(x(#"{"bsonType": "string", "default": "a"}"#)),
        to: app(x(#"{"bsonType": "string", "default": "b"}"#)), says: "x gets another default"),
    ChangeRow(
        .defaultRemoved, additive, additive, from: app(x(#"{"bsonType": "string", "default": "a"}"#)),
        to: app(x(string)), says: "x loses its default"),
]

/// The title of a row of the quick reference on the page "Update Your Schema": a property changes its type.
private let typeName = "Change property type but keep the name"
private let valueRows: [ChangeRow] = [
    ChangeRow(
        .propertyTypeChanged, breaking, breaking, quickReference: typeName, from: app(x(string)), to: app(x(int)),
        says: "x: string → int"),
    ChangeRow(
        .propertyTypeChanged, breaking, breaking, quickReference: typeName, from: app(x(embedded("A", ""))),
        to: app(x(dictionary(string))), says: "x: embedded A → dictionary of string"),
    ChangeRow(
        .numberWidened, breaking, breaking, quickReference: typeName, from: app(x(int)), to: app(x(double)),
        says: "x: int → double"),
    ChangeRow(
        .numberWidened, breaking, breaking, quickReference: typeName, from: app(x(double)), to: app(x(decimal)),
        says: "x: double → decimal"),
    ChangeRow(
        .integerWidthChanged, breaking, additive, quickReference: typeName, from: app(x(int)), to: app(x(long)),
        says: "x: int → long"),
    ChangeRow(
        .integerWidthChanged, breaking, additive, quickReference: typeName, from: app(x(long)), to: app(x(int)),
        says: "x: long → int"),
    ChangeRow(
        .cardinalityChanged, breaking, breaking, from: app(x(string)), to: app(x(list(string))),
        says: "x: string → list of string"),
    ChangeRow(
        .cardinalityChanged, breaking, breaking, from: app(x(set(int))), to: app(x(int)), says: "x: set of int → int"),
    ChangeRow(
        .cardinalityChanged, breaking, breaking, from: app(x(string)), to: app(x(dictionary(string))),
        says: "x: string → dictionary of string"),
    ChangeRow(
        .listSetChanged, breaking, breaking, from: app(x(list(int))), to: app(x(set(int))),
        says: "x: list of int → set of int"),
    ChangeRow(
        .listSetChanged, breaking, breaking, from: app(x(set(int))), to: app(x(list(int))),
        says: "x: set of int → list of int"),
    ChangeRow(
        .elementTypeChanged, breaking, breaking, from: app(x(list(int))), to: app(x(list(string))),
        says: "x[]: int → string"),
    ChangeRow(
        .elementTypeChanged, breaking, breaking, from: app(x(set(int))), to: app(x(set(long))),
        says: "x[]: int → long"),
    ChangeRow(
        .elementTypeChanged, breaking, breaking, from: app(x(dictionary(int))), to: app(x(dictionary(string))),
        says: "x{}: int → string"),
    ChangeRow(
        .elementNullabilityChanged, breaking, breaking, from: app(x(list(nullable))), to: app(x(list(string))),
        says: "x[]: string or null → string"),
    ChangeRow(
        .idRemoved, breaking, breaking, from: app(type("")), to: app(#"{"title": "Person", "properties": {}}"#),
        says: "_id is removed"),
    ChangeRow(
        .idTypeChanged, breaking, breaking, from: app(type(#""_id": \#(string)"#)),
        to: app(type(#""_id": \#(objectID)"#)), says: "_id: string → objectId"),
    ChangeRow(
        .idTypeChanged, breaking, breaking, from: app(type(#""_id": \#(int)"#)), to: app(type(#""_id": \#(long)"#)),
        says: "_id: int → long"),
]

/// The rows for links between collections.
private let linkRows: [ChangeRow] = [
    ChangeRow(
        .embeddingChanged, breaking, breaking, from: app(x(embedded("Pet", ""))), to: app(x(toPet)).linking("x", pets),
        says: "x: embedded Pet → objectId"),
    ChangeRow(
        .embeddingChanged, breaking, breaking,
        from: app(x(list(toPet))).linking("x.[]", pets), to: app(x(list(embedded("Pet", "")))),
        says: "x[]: objectId → embedded Pet"),
    ChangeRow(
        .linkAdded, breaking, breaking, from: app(x(toPet)), to: app(x(toPet)).linking("x", pets),
        says: "x becomes a link to app.Pet"),
    ChangeRow(
        .linkRemoved, breaking, breaking, from: app(x(list(toPet))).linking("x.[]", pets), to: app(x(list(toPet))),
        says: "x[] is no longer a link to app.Pet"),
    ChangeRow(
        .linkRetargeted, breaking, breaking, from: app(x(toPet)).linking("x", pets),
        to: app(x(toPet)).linking("x", people), says: "x links to app.Person instead of app.Pet"),
]

/// The rows for constraints other than types and fields.
private let constraintRows: [ChangeRow] = [
    ChangeRow(
        .constraintTightened, additive, additive, from: app(x(string)),
        to: app(x(#"{"bsonType": "string", "maxLength": 5}"#)), says: "x: maxLength restricted"),
    ChangeRow(
        .constraintTightened, additive, additive, from: app(x(#"{"bsonType": "int", "enum": [1, 2]}"#)),
        to: app(x(#"{"bsonType": "int", "enum": [2]}"#)), says: "x: enum restricted, no longer 1"),
    ChangeRow(
        .constraintTightened, additive, additive, from: app(x(#"{"bsonType": "string", "pattern": "a"}"#)),
        to: app(x(#"{"bsonType": "string", "pattern": "b"}"#)), says: "x: pattern restricted"),
    ChangeRow(
        .constraintLoosened, additive, additive,
        from: app(x(#"{"bsonType": "int", "minimum": 1, "exclusiveMinimum": true}"#)),
        to: app(x(#"{"bsonType": "int", "minimum": 1}"#)), says: "x: minimum relaxed"),
    ChangeRow(
        .additionalPropertiesChanged, additive, additive, from: app(x(embedded("A", #""a": \#(int)"#))),
        to: app(x(embedded("A", #""a": \#(int)}, "additionalProperties": false, "dependencies": {"#))),
        says: "x: no undeclared fields instead of any undeclared fields"),
]

/// The rows for changes of an app's sync settings.
private let syncRows: [ChangeRow] = [
    ChangeRow(
        .partitionKeyChanged, breaking, breaking, from: app(x(string)).syncing(.partition(key("x"))),
        to: app(x(string)).syncing(.partition(key("y"))), says: "partition key: x (string) → y (string)"),
    ChangeRow(
        .partitionKeyChanged, breaking, breaking, from: app(x(string)).syncing(.partition(key("x"))),
        to: app(x(string)).syncing(.partition(key("x", .long))), says: "partition key: x (string) → x (long)"),
    ChangeRow(
        .syncModeChanged, breaking, breaking, from: app(x(string)).syncing(.partition(key("x"))),
        to: app(x(string)).syncing(.flexible), says: "partition-based sync becomes flexible sync"),
    ChangeRow(
        .dataSourceChanged, breaking, breaking, from: app(x(string)).syncing(.flexible) { $0.service = "a" },
        to: app(x(string)).syncing(.flexible) { $0.service = "b" }, says: "sync moves from data source a to b"),
    ChangeRow(
        .queryableAdded, additive, additive, from: app(x(string)).syncing(.flexible),
        to: app(x(string)).syncing(.flexible) { $0.queryableFields = ["x", "other"] },
        says: "clients can query by x"),
    ChangeRow(
        .queryableRemoved, additive, breaking,
        from: app(x(string)).syncing(.flexible) { $0.collectionQueryableFields = ["Person": ["x"]] },
        to: app(x(string)).syncing(.flexible), says: "clients can no longer query by x"),
    ChangeRow(
        .indexedQueryableChanged, breaking, breaking, from: app(x(string)).syncing(.flexible),
        to: app(x(string)).syncing(.flexible) { $0.indexedQueryableFields = ["x"] },
        says: "indexed queryable field: none → x"),
    ChangeRow(
        .asymmetricChanged, breaking, breaking, from: app(x(string)).syncing(.flexible),
        to: app(x(string)).syncing(.flexible) { $0.asymmetricTables = ["Person"] },
        says: "clients only write to it from now on"),
]

extension ChangeRow {
    /// The rows for all kinds of changes.
    static let all = typeRows + propertyRows + valueRows + linkRows + constraintRows + syncRows
}

/// The quick reference of the page "Update Your Schema"; each row has the verdicts for the server and for clients.
let quickReference: [(row: String, server: SchemaChange.Verdict, client: SchemaChange.Verdict)] = [
    ("Add an object type", additive, additive),
    ("Add a required property", additive, additive),
    ("Add an optional property", additive, additive),
    ("Remove an object type", breaking, additive),
    ("Remove a required property", breaking, additive),
    ("Remove an optional property", breaking, additive),
    ("Change an object type name", breaking, breaking),
    ("Change a property name", breaking, breaking),
    ("Change property type but keep the name", breaking, breaking),
    ("Change property from optional to required", breaking, breaking),
    ("Change property from required to optional", breaking, breaking),
]

// MARK: Making apps

/// Makes an app with these types: the first one in `app.Person`, and all others in `app.Pet`.
private func apps(_ types: String...) -> ServerSchema {
    var schema = app(types[0])
    for text in types.dropFirst() { schema.collections += app(text, pets).collections }
    return schema
}

private func key(_ field: String, _ type: SchemaType = .string) -> SyncConfiguration.PartitionKey {
    SyncConfiguration.PartitionKey(field: field, type: type)
}

extension ServerSchema {
    /// Returns the schema with a link to `target` from the field at the path `source`, which is a list if `isList` is
    /// true.
    func linking(_ source: String, _ target: Namespace, isList: Bool = false) -> ServerSchema {
        var schema = self
        let steps = source.split(separator: ".").map { $0 == "[]" ? SchemaPath.Step.elements : .field(String($0)) }
        schema.collections[0].relationships = [
            Relationship(
                source: SchemaPath(steps), target: target, isList: isList,
                location: SourceLocation(whole: "relationships.json"))
        ]
        return schema
    }

    /// Returns the schema with a sync configuration.
    fileprivate func syncing(
        _ mode: SyncConfiguration.Mode, _ change: (inout SyncConfiguration) -> Void = { _ in }
    ) -> ServerSchema {
        var schema = self
        var sync = SyncConfiguration(mode: mode, location: SourceLocation(whole: "sync/config.json"))
        change(&sync)
        schema.sync = sync
        return schema
    }
}
