public import BSON

/// A collection of the demo app, whose documents are each computed from an index.
public struct DemoCollection: Sendable {
    enum Kind {
        case person, dog(people: Int), task, note
    }

    /// The database and name of the collection.
    public let namespace: Namespace
    /// The number of documents in the collection.
    public let count: Int
    let kind: Kind

    init(_ name: String, count: Int, kind: Kind) {
        namespace = Namespace(database: "app", collection: name)
        self.count = count
        self.kind = kind
    }

    /// Returns the document at an index below ``count``.
    public func document(at index: Int) -> BSONDocument { recipe(at: index).document }

    /// Returns the `_id` of the document at an index.
    public func id(at index: Int) -> BSONValue { recipe(at: index).id }

    /// Returns the findings that a check must report for the document at an index, without the findings of the level
    /// `info`.
    public func flaws(at index: Int, against version: DemoVersion) -> [DemoFlaw] {
        recipe(at: index).flaws(against: version)
    }

    /// Whether the document at an index stops syncing under a schema.
    public func isUnsyncable(at index: Int, against version: DemoVersion) -> Bool {
        flaws(at: index, against: version).contains { $0.level == .certain }
    }

    private func recipe(at index: Int) -> any DemoRecipe {
        switch kind {
        case .person: DemoPerson(index: index, of: count)
        case .dog(let people): DemoDog(index: index, people: people)
        case .task: DemoTask(index: index)
        case .note: DemoNote(index: index)
        }
    }
}
