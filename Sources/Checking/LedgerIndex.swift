public import BSON

/// The documents that the ledger of unsynced documents records; ``LedgerKey`` defines which `_id`s are equal.
public struct LedgerIndex: Sendable {
    private var ids: [Namespace: Set<LedgerKey>] = [:]
    /// The number of distinct documents recorded.
    public private(set) var count = 0
    /// The number of entries that were inserted, including those that name no document.
    private var entryCount = 0

    /// Creates an empty index.
    public init() {}

    /// The numbers of entries and of distinct documents that were inserted.
    public var total: LedgerCount { LedgerCount(entries: entryCount, documents: count) }

    /// Adds an entry that records a document.
    /// - Returns: Whether the index did not contain the document before.
    @discardableResult
    public mutating func insert(_ id: BSONValue, in namespace: Namespace) -> Bool {
        entryCount += 1
        let isNew = ids[namespace, default: []].insert(LedgerKey(id)).inserted
        if isNew { count += 1 }
        return isNew
    }

    /// Adds an entry of the ledger, and the document that it names (`ns.db`, `ns.coll`, `documentId`).
    /// - Returns: Whether the entry names a document.
    /// - Throws: ``BSONError`` if the entry's bytes are damaged.
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

    /// Whether the ledger records a document.
    public func contains(_ id: BSONValue, in namespace: Namespace) -> Bool {
        ids[namespace]?.contains(LedgerKey(id)) ?? false
    }

    /// Returns the number of distinct documents of one collection that the ledger records.
    public func count(in namespace: Namespace) -> Int { ids[namespace]?.count ?? 0 }
}

/// An `_id` in the form in which it is compared with the ledger of unsynced documents; equal keys mean the same
/// document.
///
/// The BSON type with which the ledger records an `_id` is not documented. An ObjectId therefore equals its 24
/// hexadecimal digits, and whole numbers of different types are equal if their values are.
package enum LedgerKey: Hashable, Sendable {
    /// An ObjectId, or a string of its 24 hexadecimal digits.
    case objectID(ObjectID)
    /// A whole number of any numeric type that fits into 64 bits.
    case integer(Int64)
    /// An `_id` that is neither an ObjectId, nor the text of one, nor a whole number that fits into 64 bits.
    case other(BSONValue)

    /// Creates the key of an `_id`.
    ///
    /// An ObjectId and the string of its hexadecimal digits get the same key, and so do equal whole numbers of any
    /// type.
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

/// The number of an app's entries in the ledgers of unsynced documents, and of the documents that these entries name.
public struct LedgerCount: Hashable, Sendable {
    /// The number of the app's entries, in all ledgers that hold entries of the app.
    ///
    /// The limit on unsynced documents applies to this number, because it is not documented whether the sync engine
    /// counts entries or documents. An entry names at most one document, so there are never fewer entries than
    /// documents.
    public var entries: Int
    /// The number of distinct documents that the entries name; `nil` if only the entries were counted.
    public var documents: Int?

    /// Creates a count.
    public init(entries: Int, documents: Int? = nil) {
        self.entries = entries
        self.documents = documents
    }

    /// A clause for reports that says that the ledger has more entries than documents.
    ///
    /// `nil` if the numbers are equal, or if the documents were not counted.
    public var warning: String? {
        guard let documents, documents < entries else { return nil }
        return
            "the ledger has \(entries) entries for \(documents) documents; the entries count against the limit, "
            + "because it is not documented which of the two the sync engine counts"
    }
}
