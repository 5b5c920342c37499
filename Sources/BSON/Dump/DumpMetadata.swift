/// What mongodump writes about a collection: the text of a `.metadata.json` file, or of an archive's prelude.
public struct DumpMetadata: Hashable, Sendable {
    /// What a name in a database stands for.
    public enum Kind: Hashable, Sendable {
        /// Documents.
        case collection
        /// A pipeline over another collection: a dump holds none of its documents.
        case view
        /// Measurements: a dump holds the buckets that they are kept in.
        case timeSeries
    }

    /// What it is.
    public let kind: Kind
    /// The options that it was created with, such as `validator` and `viewOn`.
    public let options: BSONDocument
    /// The collection's UUID as 32 hexadecimal digits; `nil` for a view, and before mongodump 3.6.
    public let uuid: String?
    /// The whole name, which a file name may not have room for; `nil` in old dumps.
    public let collectionName: String?

    /// Reads the text, which is extended JSON.
    /// - Throws: ``BSONError`` when it is not.
    public init(json text: String) throws(BSONError) {
        let document = try BSONDocument(extendedJSON: text)
        options = document["options"]?.document ?? BSONDocument()
        uuid = document["uuid"]?.text
        collectionName = document["collectionName"]?.text
        kind = Kind(type: document["type"]?.text, options: options)
    }
}

extension DumpMetadata.Kind {
    /// Follows the type where mongodump tells it, else what the options must hold.
    init(type: String?, options: BSONDocument) {
        self =
            switch type {
            case "timeseries": .timeSeries
            case "view": .view
            default:
                options["timeseries"] != nil ? .timeSeries : options["viewOn"] != nil ? .view : .collection
            }
    }
}
