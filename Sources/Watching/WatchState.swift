import BSON
import Following
import Jobs
import Mongo
import ServerSchema

/// What a watch knows of its earlier runs, as its record in the state database has it.
struct WatchState {
    /// Where to go on, by collection.
    private(set) var places: [Namespace: FeedPlace] = [:]

    /// Reads a record; nothing is known by another schema.
    init(_ record: BSONDocument?, digest: String) {
        guard let record, record["schema"]?.text == digest else { return }
        for entry in record["places"]?.document?.values.compactMap(\.document) ?? [] {
            guard let namespace = entry["ns"]?.text.flatMap({ Namespace($0) }), let place = FeedPlace(entry) else {
                continue
            }
            places[namespace] = place
        }
    }

    /// The changes that record where the collections are.
    static func changes(_ places: [(Namespace, FeedPlace)], digest: String) -> BSONDocument {
        let entries = places.map { namespace, place in
            BSONValue.object(place.document.appending("ns", .string("\(namespace)")))
        }
        return ["schema": .string(digest), "places": ["$literal": .array(of: entries)]]
    }

    /// What tells schemas, and how they are read, apart.
    static func digest(of schema: ServerSchema, _ options: WatchOptions) -> String {
        let parts = schema.sources.flatMap { [$0.path, $0.text] } + schema.collections.map(\.namespace.description)
        let assumed = "\(options.isStrict) \(options.assumptions)"
        return SHA256.text(of: Array((parts + [assumed]).joined(separator: "\u{0}").utf8))
    }
}
