package import BSON

/// A file that holds a collection's schema beside other things: the rules file of a legacy export, or the Admin API's
/// schema object.
///
/// The file says which collection it is for, as file names cannot: a collection's name may have dots.
/// Source: `semantics.md` sections 2.2 and 2.4 of the project's reference.
struct RulesFile {
    /// The collection.
    let namespace: Namespace
    /// The data source, where the file names it.
    let service: String?
    /// The schema; `nil` when the file has none.
    let schema: LocatedJSON?
    /// The map of links; `nil` when the file has none.
    let relationships: LocatedJSON?

    /// `nil` for a file of another form, such as a bare schema.
    /// - Throws: ``SchemaError`` when the collection's name is no text.
    init?(_ json: LocatedJSON) throws(SchemaError) {
        let holder = json["metadata"] ?? json
        // A schema's own properties stand in `properties`, so these are no fields of documents.
        guard json["properties"] == nil, json["bsonType"] == nil, holder.members != nil,
            let database = try holder.string("database"), let collection = try holder.string("collection")
        else { return nil }
        namespace = Namespace(database: database, collection: collection)
        service = try holder.string("data_source")
        schema = json.present("schema")
        relationships = json.present("relationships")
    }
}

/// One file of access rules, which only lint looks into: `rules.json`, `default_rule.json`, or a legacy rules file.
package struct AccessRules: Sendable {
    /// The collection that the roles are for; `nil` for those of a data source's collections without rules of their own.
    package var namespace: Namespace?
    /// The data source that holds the collection.
    package var service: String?
    /// The file's object, with `roles` and `filters`.
    package var json: LocatedJSON
}
