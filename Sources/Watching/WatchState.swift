import BSON
import Following
import Jobs
import Mongo
import ServerSchema

/// The state that earlier runs of a watch stored in its record in the state database.
struct WatchState {
    /// The position in each collection's change stream from which to resume.
    private(set) var places: [Namespace: FeedPlace] = [:]
    /// The number of entries that the watch left in the ledger for each collection.
    ///
    /// A number is missing if an earlier version of the program wrote the record.
    private(set) var entries: [Namespace: Int] = [:]

    /// Reads the watch's record.
    ///
    /// The state is empty if there is no record, or if the record was written under another schema or other options.
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

    /// Returns the update to the watch's record that stores the progress of each collection that the watch follows.
    ///
    /// The progress is the position in the change stream, and the number of the collection's entries in the ledger.
    static func changes(_ collections: [WatchedCollection], digest: String) -> BSONDocument {
        let entries = collections.compactMap { collection -> BSONValue? in
            guard let place = collection.place else { return nil }
            let entry = place.document.appending("ns", .string("\(collection.namespace)"))
            return .object(collection.entries.map { entry.appending("entries", .integer($0)) } ?? entry)
        }
        return ["schema": .string(digest), "places": ["$literal": .array(of: entries)]]
    }

    /// Returns a digest of the schema and of the options that determine which documents count as unsynced.
    static func digest(of schema: ServerSchema, _ options: WatchOptions) -> String {
        let parts = schema.sources.flatMap { [$0.path, $0.text] } + schema.collections.map(\.namespace.description)
        let assumed = "\(options.isStrict) \(options.assumptions)"
        return SHA256.text(of: Array((parts + [assumed]).joined(separator: "\u{0}").utf8))
    }
}
