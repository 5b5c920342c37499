package import BSON
package import Checking
package import Mongo

/// Counts the entries of a deployment's ledgers of unsynced documents, by app; never writes.
package struct LedgerSurvey {
    private let ledgers: [Namespace]
    private let apps: [String]

    /// The largest number of different reasons that are kept for one collection; all entries with other reasons have
    /// one common count.
    private static var maximumReasonCount: Int { 10 }

    /// Prepares to count the entries of the ledgers of unsynced documents.
    /// - Parameter apps: The apps whose entries are counted; empty for all apps.
    package init(_ ledgers: [Namespace], apps: [String]) {
        self.ledgers = ledgers
        self.apps = apps
    }

    /// Returns the numbers of entries and of documents in all ledgers, by app and collection.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged entry.
    package func apps(on client: borrowing Client) throws -> [UnsyncedReport.App] {
        var places: [Place: UnsyncedReport.Collection] = [:]
        var homes: [String?: Set<Namespace>] = [:]
        for ledger in ledgers {
            let collection = client.collection(ledger)
            for (place, entry) in try entries(of: collection) {
                homes[place.app, default: []].insert(ledger)
                places[place, default: .init(namespace: place.namespace, entryCount: 0, documentCount: 0)].add(
                    entry, reasonsAtMost: Self.maximumReasonCount)
            }
            for (place, count) in try documents(of: collection) { places[place]?.documentCount += count }
        }
        for (app, homes) in homes where homes.count > 1 {
            // The server cannot count the different documents in ledgers of several databases, so all entries of the
            // app are read.
            var collections: [MongoCollection] = []
            for home in homes { collections.append(client.collection(home)) }
            let index = try LedgerReader(apps: [app], collections: collections).index()
            for place in places.keys where place.app == app {
                places[place]?.documentCount = place.namespace.map(index.count(in:)) ?? 0
            }
        }
        return Dictionary(grouping: places) { $0.key.app }.map { app, places in
            UnsyncedReport.App(
                ledgers: (homes[app] ?? []).sorted(), id: app,
                collections: places.map(\.value).sorted(by: Self.isFuller))
        }
    }

    private struct Place: Hashable {
        var app: String?
        var namespace: Namespace?

        init(_ group: BSONDocument) {
            app = group["app"]?.text
            guard let database = group["db"]?.text, let collection = group["coll"]?.text else { return }
            namespace = Namespace(database: database, collection: collection)
        }
    }

    private func filter(in ledger: Namespace) -> BSONDocument {
        apps.isEmpty ? [:] : LedgerExpression.ofApps(apps, in: ledger)
    }

    /// Returns the numbers of entries in one ledger by app and collection, with the reasons that the entries give.
    private func entries(of collection: MongoCollection) throws(MongoError) -> [Place: UnsyncedReport.Collection] {
        var places: [Place: UnsyncedReport.Collection] = [:]
        var cursor = collection.aggregate(
            [
                ["$match": .object(filter(in: collection.namespace))],
                [
                    "$group": [
                        "_id": [
                            "app": LedgerExpression.app(in: collection.namespace), "db": "$ns.db", "coll": "$ns.coll",
                            "reason": "$reason",
                        ],
                        "n": ["$sum": 1],
                    ]
                ], ["$sort": ["n": -1, "_id": 1]],
            ], options: LedgerExpression.options)
        while let document = try cursor.nextDocument() {
            guard let group = document["_id"]?.document, let count = document["n"]?.integer else { continue }
            let place = Place(group)
            var entry = places[place] ?? .init(namespace: place.namespace, entryCount: 0, documentCount: 0)
            entry.entryCount += count
            entry.reasons.add(group["reason"]?.text, count, atMost: Self.maximumReasonCount)
            places[place] = entry
        }
        return places
    }

    /// Returns the numbers of different documents in one ledger, by app and collection.
    private func documents(of collection: MongoCollection) throws(MongoError) -> [(Place, Int)] {
        let groups = try collection.aggregate(
            [
                [
                    "$match": [
                        "$and": [
                            .object(filter(in: collection.namespace)),
                            .object(LedgerExpression.namesADocument),
                        ]
                    ]
                ],
                [
                    "$group": [
                        "_id": [
                            "app": LedgerExpression.app(in: collection.namespace), "db": "$ns.db", "coll": "$ns.coll",
                            "id": LedgerExpression.document,
                        ]
                    ]
                ],
                ["$group": ["_id": ["app": "$_id.app", "db": "$_id.db", "coll": "$_id.coll"], "n": ["$sum": 1]]],
            ], options: LedgerExpression.options
        ).documents()
        return groups.compactMap { group in
            group["_id"]?.document.map { (Place($0), group["n"]?.integer ?? 0) }
        }
    }

    private static func isFuller(_ left: UnsyncedReport.Collection, _ right: UnsyncedReport.Collection) -> Bool {
        if left.documentCount != right.documentCount { return left.documentCount > right.documentCount }
        return (left.namespace?.description ?? "") < (right.namespace?.description ?? "")
    }
}

extension UnsyncedReport.Collection {
    /// Adds the numbers of entries of another ledger.
    ///
    /// The numbers of documents are counted separately and not added, because two ledgers may record the same document.
    fileprivate mutating func add(_ other: Self, reasonsAtMost maximum: Int) {
        entryCount += other.entryCount
        for reason in other.reasons { reasons.add(reason.text, reason.entryCount, atMost: maximum) }
    }
}

extension [UnsyncedReport.Reason] {
    /// Adds `count` to the number of entries with the reason `text`.
    ///
    /// If the list already has `maximum` other reasons, `count` is added to a common number for all further reasons,
    /// whose text is `nil`.
    fileprivate mutating func add(_ text: String?, _ count: Int, atMost maximum: Int) {
        let isKept = self.count < maximum || contains { $0.text == text }
        let text = isKept ? text : nil
        if let index = firstIndex(where: { $0.text == text }) {
            self[index].entryCount += count
        } else {
            append(UnsyncedReport.Reason(text: text, entryCount: count))
        }
    }
}
