import BSON
import Following
import Jobs
import Mongo
import ServerSchema

/// The state that a watch's earlier runs left in its record in the state database.
struct WatchState {
    /// The place to resume from, by collection.
    private(set) var places: [Namespace: FeedPlace] = [:]
    /// The number of entries that the watch left in the ledger, by collection; an earlier version did not record it.
    private(set) var entries: [Namespace: Int] = [:]

    /// Reads a record; one that was written under another schema is ignored.
    init(_ record: BSONDocument?, digest: String) {
        guard let record, record["schema"]?.text == digest else { return }
        for entry in record["places"]?.document?.values.compactMap(\.document) ?? [] {
            guard let namespace = entry["ns"]?.text.flatMap({ Namespace($0) }), let place = FeedPlace(entry) else {
                continue
            }
            places[namespace] = place
            entries[namespace] = entry["entries"]?.integer
        }
    }

    /// Returns the changes that record the places of the collections, and how many entries each has in the ledger.
    static func changes(_ collections: [WatchedCollection], digest: String) -> BSONDocument {
        let entries = collections.compactMap { collection -> BSONValue? in
            guard let place = collection.place else { return nil }
            let entry = place.document.appending("ns", .string("\(collection.namespace)"))
            return .object(collection.entries.map { entry.appending("entries", .integer($0)) } ?? entry)
        }
        return ["schema": .string(digest), "places": ["$literal": .array(of: entries)]]
    }

    /// Returns a digest of the schema and of the options by which it is read.
    static func digest(of schema: ServerSchema, _ options: WatchOptions) -> String {
        let parts = schema.sources.flatMap { [$0.path, $0.text] } + schema.collections.map(\.namespace.description)
        let assumed = "\(options.isStrict) \(options.assumptions)"
        return SHA256.text(of: Array((parts + [assumed]).joined(separator: "\u{0}").utf8))
    }
}
