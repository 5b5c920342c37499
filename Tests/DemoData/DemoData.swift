public import BSON

/// The data of the demo app, the same on every machine and in every run.
public enum DemoData {
    /// The number of documents of the demo app in all collections together.
    public static let documentCount = 200_000

    /// The app's internal id, which is stated in the entries of its ledger.
    public static let appID = "64f1c0de5ea51de5ca1ab1e0"

    /// The collection of the sync service's ledger.
    public static let ledgerNamespace = Namespace(database: "__realm_sync", collection: "unsynced_documents")

    /// The four collections of the demo app at their full size.
    public static var collections: [DemoCollection] { collections(documents: documentCount) }

    /// Returns the four collections of the demo app with about this many documents in total.
    public static func collections(documents: Int) -> [DemoCollection] {
        let people = max(1, documents * 50 / 100)
        return [
            DemoCollection("Person", count: people, kind: .person),
            DemoCollection("Dog", count: documents * 30 / 100, kind: .dog(people: people)),
            DemoCollection("Task", count: documents * 19 / 100, kind: .task),
            DemoCollection("Note", count: documents * 1 / 100, kind: .note),
        ]
    }

    /// Returns the ledger of unsynced documents.
    ///
    /// The ledger lists most of the documents that fail the demo's schema v1, and has a few stale entries. An entry is
    /// stale if its document fits now, or does not exist any more.
    public static func ledger(documents: Int = documentCount) -> [BSONDocument] {
        let fitting = max(1, documents / 20_000)
        var entries: [(Namespace, BSONValue)] = []
        for collection in collections(documents: documents) where collection.count > fitting {
            let (failing, fine) = (0..<collection.count).reduce(into: ([Int](), [Int]())) { found, index in
                if collection.isUnsyncable(at: index, against: .v1) {
                    found.0.append(index)
                } else if found.1.count < fitting {
                    found.1.append(index)
                }
            }
            // Every fifth failing document was written after the service last updated the ledger, so the ledger lacks
            // it.
            let recorded = failing.enumerated().filter { $0.offset % 5 != 4 }.map(\.element)
            let gone = collection.count..<collection.count + fitting / 2
            for index in recorded + fine + gone { entries.append((collection.namespace, collection.id(at: index))) }
        }
        return entries.enumerated().map { entry($0.offset, $0.element.0, $0.element.1) }
    }

    private static func entry(_ index: Int, _ namespace: Namespace, _ id: BSONValue) -> BSONDocument {
        [
            "_id": .objectID(at: index, of: 9), "appId": .string(appID), "documentId": id,
            "ns": ["db": .string(namespace.database), "coll": .string(namespace.collection)],
            "reason": "invalid schema",
        ]
    }
}
