package import BSON

/// A collection as `listCollections` describes it.
package struct CollectionInfo: Hashable, Sendable {
    /// The kind of a collection or a view.
    ///
    /// The server defines the kinds, so a kind may have a name that is not listed here.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name as `listCollections` reports it.
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        package static let collection = Kind(rawValue: "collection")
        /// A pipeline over another collection.
        package static let view = Kind(rawValue: "view")
        /// A time-series collection, which stores its measurements in buckets of another collection.
        package static let timeseries = Kind(rawValue: "timeseries")
    }

    /// The name of the collection within its database.
    package let name: String
    package let kind: Kind
    /// The sixteen bytes of the UUID as a `binData` of subtype 4.
    ///
    /// `nil` for a view, or if `listCollections` was called with `nameOnly`.
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
    /// The kind of the collection in words.
    package var description: String { self == .timeseries ? "time series" : rawValue }
}
