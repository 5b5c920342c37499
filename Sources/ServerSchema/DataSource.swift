/// A linked data source of an app, as its `config.json` describes it.
///
/// Source: `semantics.md` sections 2.2 and 2.4 of the project's reference.
public struct DataSource: Hashable, Sendable {
    /// The folder that holds its collections.
    public var folder: String
    /// The name by which links and the sync configuration know it: the folder's, where the file gives none.
    public var name: String
    /// What it is, such as `mongodb-atlas` or `datalake`; `nil` when the export does not say.
    public var type: String?
    /// Where the name stands; the folder when no file gives one.
    public var location: SourceLocation

    /// Joins the parts.
    public init(folder: String, name: String, type: String? = nil, location: SourceLocation) {
        self.folder = folder
        self.name = name
        self.type = type
        self.location = location
    }

    /// Whether it is a federated database, whose collections cannot sync.
    public var isFederated: Bool { type == "datalake" }
}
