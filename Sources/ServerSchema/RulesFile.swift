package import BSON

/// A file that holds a collection's schema along with other things: the rules file of a legacy export, or the Admin
/// API's schema object.
///
/// The file itself names its collection. Its file name cannot, because a collection's name may have dots.
/// Source: `semantics.md` sections 2.2 and 2.4 of the project's reference.
struct RulesFile {
    /// The collection whose schema the file holds.
    let namespace: Namespace
    /// The data source of the collection; `nil` when the file does not name it.
    let service: String?
    /// The schema; `nil` when the file has none.
    let schema: LocatedJSON?
    /// The map of links; `nil` when the file has none.
    let relationships: LocatedJSON?

    /// Reads a rules file; `nil` for another kind of file, such as one that is itself a schema.
    /// - Throws: ``SchemaError`` when the name of the collection or the data source is not a string.
    init?(_ json: LocatedJSON) throws(SchemaError) {
        let holder = json["metadata"] ?? json
        // A schema that is a file by itself names fields only in `properties`, so `database` and `collection` are no
        // fields here.
        guard json["properties"] == nil, json["bsonType"] == nil, holder.members != nil,
            let database = try holder.string("database"), let collection = try holder.string("collection")
        else { return nil }
        namespace = Namespace(database: database, collection: collection)
        service = try holder.string("data_source")
        schema = json.present("schema")
        relationships = json.present("relationships")
    }
}

/// One file of access rules, which only lint reads: `rules.json`, `default_rule.json`, or a legacy rules file.
package struct AccessRules: Sendable {
    /// The collection that the roles apply to; `nil` for the default rules of a data source.
    ///
    /// The default rules apply to collections without rules.
    package var namespace: Namespace?
    /// The data source that holds the collection.
    package var service: String?
    /// The content of the file: an object with `roles` and `filters`.
    package var json: LocatedJSON
}
