package import BSON
package import Checking
package import Mongo

/// Reads the documents that the ledgers of unsynced documents record for an app, and reports which of them still fail;
/// never writes.
///
/// The explainer keeps in memory one batch of `_id`s for each collection, and the groups of findings. If there are
/// several ledgers, it keeps all `_id`s, because two ledgers may record the same document.
package struct LedgerExplainer {
    let ledgers: [Namespace]
    let appID: String?
    let schemas: [CompiledSchema]
    let options: Tally.Options
    let isStopped: @Sendable () -> Bool

    /// The number of `_id`s that are looked up at once.
    private static var batchSize: Int { 1_000 }

    /// Prepares to explain the ledger entries of one app.
    /// - Parameter appID: The app's id, as ``LedgerSurvey`` returns it; `nil` for entries that name no app.
    package init(
        _ ledgers: [Namespace], appID: String?, schemas: [CompiledSchema], options: Tally.Options = .init(),
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) {
        self.ledgers = ledgers
        self.appID = appID
        self.schemas = schemas
        self.options = options
        self.isStopped = isStopped
    }

    /// Returns the present state of the documents that the ledgers record, for each collection that has a schema and a
    /// ledger entry.
    /// - Throws: ``MongoError``, ``BSONError`` for a damaged document, or ``ScanStopped``.
    package func explain(on client: borrowing Client) throws -> [Namespace: UnsyncedExplanation] {
        var works: [Namespace: Work] = [:]
        var seen = LedgerIndex()
        for ledger in ledgers {
            var cursor = client.collection(ledger).aggregate(pipeline(in: ledger), options: LedgerExpression.options)
            while let entry = try cursor.nextDocument() {
                guard let group = entry["_id"]?.document, let database = group["db"]?.text,
                    let collection = group["coll"]?.text, let id = entry["id"],
                    let schema = schemas.first(where: {
                        $0.namespace == Namespace(database: database, collection: collection)
                    }),
                    ledgers.count == 1 || seen.insert(id, in: schema.namespace)
                else { continue }
                works[schema.namespace, default: Work(schema, options)].pending.append(id)
                if works[schema.namespace]?.pending.count == Self.batchSize {
                    try works[schema.namespace]?.lookUp(on: client)
                    if isStopped() { throw ScanStopped() }
                }
            }
        }
        for namespace in works.keys { try works[namespace]?.lookUp(on: client) }
        return works.mapValues { UnsyncedExplanation(counts: $0.counts, groups: $0.tally.violationGroups) }
    }

    /// Returns the pipeline stages that list each document in a ledger once, with the `_id` from one of its entries.
    private func pipeline(in ledger: Namespace) -> [BSONDocument] {
        let places = schemas.map { schema -> BSONValue in
            ["ns.db": .string(schema.namespace.database), "ns.coll": .string(schema.namespace.collection)]
        }
        return [
            [
                "$match": [
                    "$and": [
                        .object(LedgerExpression.ofApps([appID], in: ledger)), ["$or": .array(of: places)],
                        .object(LedgerExpression.namesADocument),
                    ]
                ]
            ],
            [
                "$group": [
                    "_id": ["db": "$ns.db", "coll": "$ns.coll", "id": LedgerExpression.document],
                    "id": ["$first": "$documentId"],
                ]
            ],
        ]
    }
}

/// The documents of one collection that are still to be read, and the results of those that were read.
private struct Work {
    var pending: [BSONValue] = []
    var counts = UnsyncedExplanation.Counts()
    var tally: Tally

    init(_ schema: CompiledSchema, _ options: Tally.Options) { tally = Tally(schema, options: options) }

    /// Reads and judges the documents of the pending entries, and adds the results to the counts.
    mutating func lookUp(on client: borrowing Client) throws {
        guard !pending.isEmpty else { return }
        var verdicts: [LedgerKey: Verdict] = [:]
        let documents = IDReader(
            collection: client.collection(tally.schema.namespace),
            options: ["readConcern": ["level": "majority"], "comment": "shipshape ledger show"])
        try documents.read(pending.flatMap(\.spellings)) { document in
            let verdict = try tally.add(document)
            guard let element = try document.find("_id") else { return }
            let key = LedgerKey(try document.value(element))
            verdicts[key] = max(verdicts[key] ?? .fits, verdict)
        }
        for id in pending {
            switch verdicts[LedgerKey(id)] {
            case nil: counts.gone += 1
            case .fits, .warning: counts.fitting += 1
            case .possible: counts.possible += 1
            case .certain: counts.failing += 1
            }
        }
        pending.removeAll(keepingCapacity: true)
    }
}

extension BSONValue {
    /// The `_id`s that a document may have if its ledger entry contains this value.
    ///
    /// If this value is an ObjectId or the hexadecimal digits of one, the document's `_id` may be the ObjectId or a
    /// string of its digits. Any other value is the `_id` itself.
    fileprivate var spellings: [BSONValue] {
        switch LedgerKey(self) {
        case .objectID(let id):
            let digits = BSONValue.string(id.description)
            let others = self == digits || self == .objectID(id) ? [] : [self]
            return [.objectID(id), digits] + others
        default: return [self]
        }
    }
}
