import BSON

/// The parts of pipelines over a ledger.
enum LedgerExpression {
    /// The app as text: entries may hold its id as an ObjectId or as its digits.
    static let app: BSONValue = ["$convert": ["input": "$appId", "to": "string", "onError": .null, "onNull": .null]]

    /// The document's `_id`, an ObjectId as its digits: one document may be recorded in both ways.
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

    /// Whether an entry names a document.
    static let namesADocument: BSONDocument = [
        "ns.db": ["$type": "string"], "ns.coll": ["$type": "string"], "documentId": ["$exists": true],
    ]

    /// The entries of an app; all of them without one.
    static func ofApp(_ appID: String?, in ledger: Namespace) -> BSONDocument {
        guard let appID else { return [:] }
        var spellings: [BSONValue] = [.string(appID)]
        if let id = ObjectID(appID) { spellings.append(.objectID(id)) }
        // An app's own database need not say in each entry whose it is.
        if LedgerFinder.appID(of: ledger.database) == appID { spellings.append(.null) }
        return ["appId": ["$in": .array(of: spellings)]]
    }

    /// The options of every pipeline.
    static let options: BSONDocument = [
        "readConcern": ["level": "majority"], "allowDiskUse": true, "comment": "shipshape ledger",
    ]
}
