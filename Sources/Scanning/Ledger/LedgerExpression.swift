import BSON

/// The parts of aggregation pipelines over a ledger.
enum LedgerExpression {
    /// Returns the app as text; entries may hold its id as an ObjectId or as digits, and none in a ledger of one app.
    static func app(in ledger: Namespace) -> BSONValue {
        let own = LedgerFinder.appID(of: ledger.database).map { BSONValue.object(["$literal": .string($0)]) } ?? .null
        return ["$convert": ["input": "$appId", "to": "string", "onError": own, "onNull": own]]
    }

    /// The document's `_id`, with an ObjectId as its digits, because entries may record a document in both ways.
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

    /// A filter for entries that name a document.
    static let namesADocument: BSONDocument = [
        "ns.db": ["$type": "string"], "ns.coll": ["$type": "string"], "documentId": ["$exists": true],
    ]

    /// Returns a filter for the entries of some apps; `nil` stands for entries that name none.
    static func ofApps(_ apps: [String?], in ledger: Namespace) -> BSONDocument {
        // An ObjectId is converted to text in lower case.
        let spellings = apps.flatMap { app -> [BSONValue] in
            app.map { [.string($0), .string($0.lowercased())] } ?? [.null]
        }
        return ["$expr": ["$in": [app(in: ledger), ["$literal": .array(of: spellings)]]]]
    }

    /// The options of every pipeline.
    static let options: BSONDocument = [
        "readConcern": ["level": "majority"], "allowDiskUse": true, "comment": "shipshape ledger",
    ]
}
