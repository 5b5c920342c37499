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

/// An `_id` as far as the ledger of unsynced documents tells it.
///
/// The ledger does not say of which BSON type its ids are, so an ObjectId is the same as its 24 hexadecimal digits, and
/// numbers are the same when their integral values are.
package enum LedgerKey: Hashable, Sendable {
    /// An ObjectId, or its digits.
    case objectID(ObjectID)
    /// A whole number.
    case integer(Int64)
    /// Anything else.
    case other(BSONValue)

    /// Folds what the ledger does not tell apart.
    package init(_ value: BSONValue) {
        switch value {
        case .objectID(let id): self = .objectID(id)
        case .string(let text): self = ObjectID(text).map { .objectID($0) } ?? .other(value)
        case .int(let number): self = .integer(Int64(number))
        case .long(let number): self = .integer(number)
        case .double(let number): self = Int64(exactly: number).map { .integer($0) } ?? .other(value)
        case .decimal(let number): self = DecimalParts(number).exactInt64.map { .integer($0) } ?? .other(value)
        default: self = .other(value)
        }
    }
}

/// How much the ledger of unsynced documents holds for an app.
public struct LedgerCount: Hashable, Sendable {
    /// The entries, in all places where the app has some.
    ///
    /// They count against the limit. An entry names one document at most, so they are never fewer than the documents, and
    /// which of the two numbers the sync engine counts is documented nowhere.
    public var entries: Int
    /// The distinct documents that they name; `nil` when only the entries were counted.
    public var documents: Int?

    /// Joins the two.
    public init(entries: Int, documents: Int? = nil) {
        self.entries = entries
        self.documents = documents
    }

    /// What the reader should know where the two numbers differ, a clause.
    public var warning: String? {
        guard let documents, documents < entries else { return nil }
        return
            "the ledger has \(entries) entries of \(documents) distinct documents; the entries count against the limit, "
            + "since nobody documents which of the two the sync engine counts"
    }
}
