import BSON
import SystemPackage
import TestSupport

extension CommandLineFolder {
    /// Writes an export of an app whose collections are in a test's database.
    /// - Parameters:
    ///   - sync: the text of `sync/config.json`.
    ///   - collections: the texts of each collection's `schema.json` and `relationships.json`, by the collection's
    ///     name. The name may begin with its data source and a slash.
    /// - Returns: the path of the app's folder.
    func app(
        _ database: TestDatabase, sync: String, _ collections: KeyValuePairs<String, (schema: String, links: String)>
    ) throws -> String {
        try write(#"{ "name": "fleet", "config_version": 20210101 }"#, to: "app/root_config.json")
        try write(sync, to: "app/sync/config.json")
        for (name, texts) in collections {
            let parts = name.split(separator: "/").map(String.init)
            let service = parts.count > 1 ? parts[0] : "atlas"
            let config = #"{ "name": "\#(service)", "type": "mongodb-atlas", "config": {} }"#
            try write(config, to: "app/data_sources/\(service)/config.json")
            let folder = "app/data_sources/\(service)/\(database.name)/\(parts.last ?? name)"
            try write(texts.schema, to: "\(folder)/schema.json")
            try write(texts.links, to: "\(folder)/relationships.json")
        }
        return path.appending("app").string
    }
}
