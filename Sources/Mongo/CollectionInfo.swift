package import BSON
internal import CMongoC

/// A collection as `listCollections` describes it.
package struct CollectionInfo: Hashable, Sendable {
    /// The kind of a collection, in the wide sense that includes views.
    ///
    /// Open: the server defines the names.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The server's name.
        package let rawValue: String
        /// Wraps a name.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// A collection of documents.
        package static let collection = Kind(rawValue: "collection")
        /// A pipeline over another collection.
        package static let view = Kind(rawValue: "view")
        /// A time-series collection, which stores its measurements in buckets of another collection.
        package static let timeseries = Kind(rawValue: "timeseries")
    }

    /// The name within the database.
    package let name: String
    /// The collection's kind.
    package let kind: Kind
    /// The sixteen bytes of the UUID as a `binData` of subtype 4; `nil` for a view.
    package let uuid: BSONValue?
    /// The options that the collection was created with: `validator`, `collation`, `clusteredIndex`, `capped`,
    /// `viewOn`, ….
    package let options: BSONDocument

    init(_ document: BSONDocument) {
        name = document["name"]?.text ?? ""
        kind = Kind(rawValue: document["type"]?.text ?? Kind.collection.rawValue)
        uuid = document["info"]?.document?["uuid"]
        options = document["options"]?.document ?? BSONDocument()
    }

    /// The default collation; `nil` for the simple one.
    package var collation: BSONDocument? { options["collation"]?.document }

    /// Whether the collection stores its documents in the order of `_id`.
    package var isClustered: Bool { options["clusteredIndex"] != nil }

    /// The validator; `nil` when there is none.
    package var validator: BSONDocument? { options["validator"]?.document }
}

extension CollectionInfo.Kind: CustomStringConvertible {
    /// The kind in words.
    package var description: String { self == .timeseries ? "time series" : rawValue }
}

extension Client {
    /// Lists the collections and views of a database.
    ///
    /// The corresponding C function is `mongoc_database_find_collections_with_opts`.
    /// - Parameter options: those of the `listCollections` command, such as `filter` and `nameOnly`.
    /// - Throws: ``MongoError``.
    package func listCollections(
        of database: String, options: BSONDocument = [:]
    ) throws(MongoError) -> [CollectionInfo] {
        let cursor = unsafe Cursor(lease, options, of: "\(database).$cmd.listCollections") { options in
            unsafe options.lend { unsafe cmongoc_list_collections(lease.handle, database, $0) }
        }
        return try cursor.documents().map(CollectionInfo.init)
    }

    /// Describes one collection; `nil` when it does not exist.
    /// - Throws: ``MongoError``.
    package func collectionInfo(_ namespace: Namespace) throws(MongoError) -> CollectionInfo? {
        let filter: BSONDocument = ["name": .string(namespace.collection)]
        return try listCollections(of: namespace.database, options: ["filter": .object(filter)]).first
    }
    /// Describes one collection; without the privilege `listCollections`, only its name and kind.
    ///
    /// The server shows name and kind of every collection that the user may read.
    /// - Throws: ``MongoError``.
    package func readableCollection(_ namespace: Namespace) throws(MongoError) -> CollectionInfo? {
        do throws(MongoError) {
            return try collectionInfo(namespace)
        } catch {
            guard error.isAuthorization else { throw error }
            let filter: BSONDocument = ["name": .string(namespace.collection)]
            let options: BSONDocument = ["filter": .object(filter), "nameOnly": true, "authorizedCollections": true]
            if let info = try listCollections(of: namespace.database, options: options).first { return info }
            // A readable collection would have been listed. This throws if the user may not read it; otherwise it does
            // not exist.
            _ = try collection(namespace).estimatedCount()
            return nil
        }
    }
}
