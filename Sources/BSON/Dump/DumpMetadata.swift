/// The description of a collection that mongodump writes to a `.metadata.json` file or to the start of an archive.
public struct DumpMetadata: Hashable, Sendable {
    /// The kind of a collection; a view also counts as a collection.
    public enum Kind: Hashable, Sendable {
        /// A collection of documents.
        case collection
        /// A view, which is a pipeline over another collection; a dump contains no documents of a view.
        case view
        /// A time-series collection; a dump contains the buckets in which its measurements are stored.
        case timeSeries
    }

    /// The collection's kind.
    public let kind: Kind
    /// The options that the collection had when it was dumped, such as `validator` and `viewOn`.
    public let options: BSONDocument
    /// The collection's UUID as 32 hexadecimal digits; `nil` for a view, and in dumps of versions before mongodump 3.6.
    public let uuid: String?
    /// The collection's full name, which may be too long for a file name; `nil` in old dumps.
    public let collectionName: String?

    /// Reads the description from extended JSON.
    /// - Throws: ``BSONError`` when the text is not extended JSON.
    public init(json text: String) throws(BSONError) {
        let document = try BSONDocument(extendedJSON: text)
        options = document["options"]?.document ?? BSONDocument()
        uuid = document["uuid"]?.text
        collectionName = document["collectionName"]?.text
        kind = Kind(type: document["type"]?.text, options: options)
    }
}

extension DumpMetadata.Kind {
    /// Takes the kind from the type that mongodump wrote; if it wrote none, from the options.
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
