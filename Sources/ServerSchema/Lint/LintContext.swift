internal import BSON

/// The data that several lint rules share.
struct LintContext {
    let schema: ServerSchema
    /// The collections that sync; all collections if there is no sync configuration.
    let synced: [CollectionSchema]
    /// The root schemas of the synced collections and the schemas nested in them, as ``LintPlace/all(of:)`` returns
    /// them.
    let places: [LintPlace]

    private let links: [Namespace: Set<SchemaPath>]

    init(_ schema: ServerSchema) {
        self.schema = schema
        synced = schema.collections.filter { schema.sync?.covers($0) ?? true }
        places = synced.flatMap { LintPlace.all(of: $0) }
        links = Dictionary(
            synced.map { ($0.namespace, Set($0.relationships.map(\.source))) }, uniquingKeysWith: { $0.union($1) })
    }

    /// Whether a link starts from the value at `place`, or from the array or dictionary that holds the value.
    func isLink(_ place: LintPlace) -> Bool {
        guard let links = links[place.namespace] else { return false }
        return links.contains(place.path) || links.contains(SchemaPath(place.path.steps.dropLast()))
    }
}

extension SchemaPath {
    init(_ steps: some Sequence<Step>) { self.init(Array(steps)) }
}
