package import BSON
package import Checking
package import Mongo

/// Counts what a ledger holds, on the server; nothing here can write.
package struct LedgerSurvey {
    let ledger: Namespace
    let appID: String?

    /// The reasons that are kept of one collection.
    private static var maximumReasonCount: Int { 10 }

    /// Prepares a survey.
    /// - Parameter appID: the only app whose entries count; `nil` for all.
    package init(_ ledger: Namespace, appID: String?) {
        self.ledger = ledger
        self.appID = appID
    }

    /// The entries by app and collection.
    /// - Throws: ``MongoError``.
    package func apps(on client: borrowing Client) throws(MongoError) -> [UnsyncedReport.App] {
        let collection = client.collection(ledger)
        var places = try entries(of: collection)
        for (place, count) in try documents(of: collection) { places[place]?.documentCount = count }
        let byApp = Dictionary(grouping: places) { $0.key.app }
        return byApp.map { app, places in
            let collections = places.map(\.value).sorted(by: Self.isFuller)
            return UnsyncedReport.App(
                ledger: ledger, id: app ?? LedgerFinder.appID(of: ledger.database), collections: collections)
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

    /// The entries as they stand, by place and reason.
    private func entries(of collection: MongoCollection) throws(MongoError) -> [Place: UnsyncedReport.Collection] {
        var places: [Place: UnsyncedReport.Collection] = [:]
        var cursor = collection.aggregate(
            [
                ["$match": .object(LedgerExpression.ofApp(appID, in: ledger))],
                [
                    "$group": [
                        "_id": ["app": LedgerExpression.app, "db": "$ns.db", "coll": "$ns.coll", "reason": "$reason"],
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

    /// The distinct documents, by place.
    private func documents(of collection: MongoCollection) throws(MongoError) -> [(Place, Int)] {
        let groups = try collection.aggregate(
            [
                [
                    "$match": [
                        "$and": [
                            .object(LedgerExpression.ofApp(appID, in: ledger)),
                            .object(LedgerExpression.namesADocument),
                        ]
                    ]
                ],
                [
                    "$group": [
                        "_id": [
                            "app": LedgerExpression.app, "db": "$ns.db", "coll": "$ns.coll",
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

extension [UnsyncedReport.Reason] {
    /// Adds a reason, or to the rest when there are too many.
    fileprivate mutating func add(_ text: String?, _ count: Int, atMost maximum: Int) {
        let text = self.count < maximum ? text : nil
        if let index = firstIndex(where: { $0.text == text }) {
            self[index].entryCount += count
        } else {
            append(UnsyncedReport.Reason(text: text, entryCount: count))
        }
    }
}
