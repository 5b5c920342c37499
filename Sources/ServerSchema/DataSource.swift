/// A linked data source of an app, as its `config.json` describes it.
///
/// Source: `semantics.md` sections 2.2 and 2.4 of the project's reference.
public struct DataSource: Hashable, Sendable {
    /// The name of the folder with the data source's collections, in the export of the app.
    public var folder: String
    /// The name by which links and the sync configuration refer to the data source; the folder's name if `config.json`
    /// states none.
    public var name: String
    /// The kind of data source, such as `mongodb-atlas` or `datalake`; `nil` if the export does not state it.
    public var type: String?
    /// The position of the name in the data source's `config.json`; the beginning of the file if it gives no name.
    public var location: SourceLocation

    /// Creates a data source from its parts.
    public init(folder: String, name: String, type: String? = nil, location: SourceLocation) {
        self.folder = folder
        self.name = name
        self.type = type
        self.location = location
    }

    /// Whether the data source is a federated database, whose collections cannot sync.
    public var isFederated: Bool { type == "datalake" }
}
