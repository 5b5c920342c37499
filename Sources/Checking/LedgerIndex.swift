public import BSON

/// Which documents the ledger of unsynced documents records; ``LedgerKey`` says which `_id`s are the same to it.
public struct LedgerIndex: Sendable {
    private var ids: [Namespace: Set<LedgerKey>] = [:]
    /// The distinct documents recorded.
    public private(set) var count = 0
    /// The entries that recorded them, and those that name no document.
    private var entryCount = 0

    /// An index that records nothing.
    public init() {}

    /// How much is recorded.
    public var total: LedgerCount { LedgerCount(entries: entryCount, documents: count) }

    /// Records a document.
    /// - Returns: Whether it was not recorded yet.
    @discardableResult
    public mutating func insert(_ id: BSONValue, in namespace: Namespace) -> Bool {
        entryCount += 1
        let isNew = ids[namespace, default: []].insert(LedgerKey(id)).inserted
        if isNew { count += 1 }
        return isNew
    }

    /// Records what an entry of the ledger (`ns.db`, `ns.coll`, `documentId`) names.
    /// - Returns: Whether the entry names a document.
    /// - Throws: ``BSONError`` when the entry's bytes are damaged.
    @discardableResult
    public mutating func insert(entry: borrowing BSONView) throws(BSONError) -> Bool {
        guard let namespace = try Self.namespace(of: entry), let id = try entry.find("documentId") else {
            entryCount += 1
            return false
        }
        insert(try entry.value(id), in: namespace)
        return true
    }

    private static func namespace(of entry: borrowing BSONView) throws(BSONError) -> Namespace? {
        guard let place = try entry.find("ns"), place.type == .object else { return nil }
        let names = BSONDocument(copying: try entry.document(place))
        guard let database = names["db"]?.text, let collection = names["coll"]?.text else { return nil }
        return Namespace(database: database, collection: collection)
    }

    /// Whether a document is recorded.
    public func contains(_ id: BSONValue, in namespace: Namespace) -> Bool {
        ids[namespace]?.contains(LedgerKey(id)) ?? false
    }

    /// The distinct documents of one collection that are recorded.
    public func count(in namespace: Namespace) -> Int { ids[namespace]?.count ?? 0 }
}
