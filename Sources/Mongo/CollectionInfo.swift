package import BSON
internal import CMongoC

/// A collection as `listCollections` describes it.
package struct CollectionInfo: Hashable, Sendable {
    /// The kind of a collection or a view.
    ///
    /// The server defines the names, so it may have others.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The server's name of the kind.
        package let rawValue: String
        /// Creates a kind from the server's name.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// A collection of documents.
        package static let collection = Kind(rawValue: "collection")
        /// A pipeline over another collection.
        package static let view = Kind(rawValue: "view")
        /// A time-series collection, which stores its measurements in buckets of another collection.
        package static let timeseries = Kind(rawValue: "timeseries")
    }

    /// The name of the collection within its database.
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

    /// The default collation; `nil` for the simple one, which compares bytes.
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
    /// - Parameter options: the options of the `listCollections` command, such as `filter` and `nameOnly`.
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
    /// Describes one collection; `nil` when it does not exist.
    ///
    /// Without the privilege `listCollections`, the result has only the name and the kind. The server shows these two
    /// of every collection that the user may read.
    /// - Throws: ``MongoError``.
    package func readableCollection(_ namespace: Namespace) throws(MongoError) -> CollectionInfo? {
        do throws(MongoError) {
            return try collectionInfo(namespace)
        } catch {
            guard error.isAuthorization else { throw error }
            let filter: BSONDocument = ["name": .string(namespace.collection)]
            let options: BSONDocument = ["filter": .object(filter), "nameOnly": true, "authorizedCollections": true]
            if let info = try listCollections(of: namespace.database, options: options).first { return info }
            // The server would have listed a collection that the user may read. So the count throws an error if the
            // user may not read the collection, and otherwise the collection does not exist.
            _ = try collection(namespace).estimatedCount()
            return nil
        }
    }
}
