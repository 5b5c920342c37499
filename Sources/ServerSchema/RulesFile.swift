package import BSON

/// A file that contains a collection's schema together with other data.
///
/// The file is a rules file of a legacy export, or a schema object of the Admin API. Its content states the name of the
/// collection; the file name does not, because a collection's name may contain dots. Source: `semantics.md` sections
/// 2.2 and 2.4 of the project's reference.
struct RulesFile {
    /// The collection whose schema the file holds.
    let namespace: Namespace
    /// The data source of the collection; `nil` when the file does not name it.
    let service: String?
    /// The schema; `nil` when the file has none.
    let schema: LocatedJSON?
    /// The relationships, which map fields of the collection to linked collections; `nil` when the file has none.
    let relationships: LocatedJSON?

    /// Reads a rules file; `nil` for another kind of file, such as one that is itself a schema.
    /// - Throws: ``SchemaError`` if the name of the collection or of the data source is not a string.
    init?(_ json: LocatedJSON) throws(SchemaError) {
        let holder = json["metadata"] ?? json
        // A file with `properties` or `bsonType` is itself a schema, whatever its `database` and `collection` are.
        guard json["properties"] == nil, json["bsonType"] == nil, holder.members != nil,
            let database = try holder.string("database"), let collection = try holder.string("collection")
        else { return nil }
        namespace = Namespace(database: database, collection: collection)
        service = try holder.string("data_source")
        schema = json.present("schema")
        relationships = json.present("relationships")
    }
}

/// A file of access rules: `rules.json`, `default_rule.json`, or a legacy rules file; only lint reads it.
package struct AccessRules: Sendable {
    /// The collection to which the roles apply; `nil` for the default rules of a data source.
    ///
    /// The default rules apply to each collection that has no rules of its own.
    package var namespace: Namespace?
    /// The data source to which the rules belong; `nil` if the export does not state it.
    package var service: String?
    /// The content of the file: an object with `roles` and `filters`.
    package var json: LocatedJSON
}
