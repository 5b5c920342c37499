import BSON

/// The parts of aggregation pipelines over a ledger.
enum LedgerExpression {
    /// Returns an expression for the id of the app that an entry belongs to, as text; null if the app is not known.
    ///
    /// Entries may hold the id as an ObjectId or as its digits. In the ledger of a single app, entries may have no id;
    /// then it is taken from the name of the ledger's database.
    static func app(in ledger: Namespace) -> BSONValue {
        let own = LedgerFinder.appID(of: ledger.database).map { BSONValue.object(["$literal": .string($0)]) } ?? .null
        return ["$convert": ["input": "$appId", "to": "string", "onError": own, "onNull": own]]
    }

    /// An expression for the `_id` of the document that an entry records, with an ObjectId as its digits.
    ///
    /// The digits are needed because entries may record the same document in both ways.
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

    /// Returns a filter for the entries of some apps; `nil` in `apps` means the entries that name no app.
    static func ofApps(_ apps: [String?], in ledger: Namespace) -> BSONDocument {
        // The expression converts an ObjectId to text in lower case, so the filter must match that spelling too.
        let spellings = apps.flatMap { app -> [BSONValue] in
            app.map { [.string($0), .string($0.lowercased())] } ?? [.null]
        }
        return ["$expr": ["$in": [app(in: ledger), ["$literal": .array(of: spellings)]]]]
    }

    /// The options of every aggregation over a ledger.
    static let options: BSONDocument = [
        "readConcern": ["level": "majority"], "allowDiskUse": true, "comment": "shipshape ledger",
    ]
}
