public import BSON

/// Which documents the ledger of unsynced documents records.
///
/// The ledger does not say of which BSON type its ids are, so an ObjectId is the same as its 24 hexadecimal digits, and
/// numbers are the same when their integral values are.
public struct LedgerIndex: Sendable {
    private var ids: [Namespace: Set<Key>] = [:]
    /// The distinct documents recorded.
    public private(set) var count = 0

    private enum Key: Hashable, Sendable {
        case objectID(ObjectID)
        case integer(Int64)
        case other(BSONValue)

        init(_ value: BSONValue) {
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

    /// An index that records nothing.
    public init() {}

    /// Records a document.
    /// - Returns: Whether it was not recorded yet.
    @discardableResult
    public mutating func insert(_ id: BSONValue, in namespace: Namespace) -> Bool {
        let isNew = ids[namespace, default: []].insert(Key(id)).inserted
        if isNew { count += 1 }
        return isNew
    }

    /// Records what an entry of the ledger (`ns.db`, `ns.coll`, `documentId`) names.
    /// - Returns: Whether the entry names a document.
    /// - Throws: ``BSONError`` when the entry's bytes are damaged.
    @discardableResult
    public mutating func insert(entry: borrowing BSONView) throws(BSONError) -> Bool {
        guard let place = try entry.find("ns"), place.type == .object, let id = try entry.find("documentId")
        else { return false }
        let names = BSONDocument(copying: try entry.document(place))
        guard let database = names["db"]?.text, let collection = names["coll"]?.text else { return false }
        insert(try entry.value(id), in: Namespace(database: database, collection: collection))
        return true
    }

    /// Whether a document is recorded.
    public func contains(_ id: BSONValue, in namespace: Namespace) -> Bool {
        ids[namespace]?.contains(Key(id)) ?? false
    }

    /// The distinct documents of one collection that are recorded.
    public func count(in namespace: Namespace) -> Int { ids[namespace]?.count ?? 0 }
}
