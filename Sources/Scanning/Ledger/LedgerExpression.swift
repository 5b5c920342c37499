import BSON

/// The parts of aggregation pipelines over a ledger.
enum LedgerExpression {
    /// Returns an expression for the id of a ledger entry's app, as text; null if the app is not known.
    ///
    /// An entry has the id as an ObjectId or as a string of its digits. In the ledger of a single app, entries might
    /// have no id, because the name of the ledger's database contains the id.
    static func app(in ledger: Namespace) -> BSONValue {
        let own = LedgerFinder.appID(of: ledger.database).map { BSONValue.object(["$literal": .string($0)]) } ?? .null
        return ["$convert": ["input": "$appId", "to": "string", "onError": own, "onNull": own]]
    }

    /// An expression for the `_id` of a ledger entry's document.
    ///
    /// An ObjectId becomes the text of its digits.
    ///
    /// Two entries of one document may differ: one may have the ObjectId, and the other may have the digits. A text of
    /// 24 hexadecimal digits is changed to lower case, which the server uses for the digits of an ObjectId.
    static let document: BSONValue = [
        "$switch": [
            "branches": [
                ["case": ["$eq": [["$type": "$documentId"], "objectId"]], "then": ["$toString": "$documentId"]],
                [
                    "case": [
                        "$and": [
                            ["$eq": [["$type": "$documentId"], "string"]],
                            ["$regexMatch": ["input": "$documentId", "regex": "^[0-9a-fA-F]{24}$"]],
                        ]
                    ], "then": ["$toLower": "$documentId"],
                ],
            ], "default": "$documentId",
        ]
    ]

    /// A filter for the ledger entries that have a database, a collection and an `_id`, and thereby name a document.
    static let namesADocument: BSONDocument = [
        "ns.db": ["$type": "string"], "ns.coll": ["$type": "string"], "documentId": ["$exists": true],
    ]

    /// Returns a filter for the ledger entries of the apps with the given ids; `nil` among the ids means entries that
    /// name no app.
    static func ofApps(_ apps: [String?], in ledger: Namespace) -> BSONDocument {
        // If an entry has the app's id as an ObjectId, `app(in:)` returns the digits of the id in lower case. The
        // filter therefore matches each of the given ids also in lower case.
        let spellings = apps.flatMap { app -> [BSONValue] in
            app.map { [.string($0), .string($0.lowercased())] } ?? [.null]
        }
        return ["$expr": ["$in": [app(in: ledger), ["$literal": .array(of: spellings)]]]]
    }

    /// The options of an aggregation over a ledger.
    static let options: BSONDocument = [
        "readConcern": ["level": "majority"], "allowDiskUse": true, "comment": "shipshape ledger",
    ]
}
