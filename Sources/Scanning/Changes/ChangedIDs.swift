import BSON

/// The `_id`s of the documents that changed during a scan, each once, up to a bound.
struct ChangedIDs: Sendable {
    /// What is kept at most: some tens of megabytes of memory.
    static var maximumCount: Int { 200_000 }
    private static var maximumBytes: Int { 16 << 20 }

    private var ids: [DocumentKey: BSONValue] = [:]
    private var bytes = 0
    /// Whether there were more than could be kept.
    private(set) var isIncomplete = false

    var count: Int { ids.count }

    /// All of them, in no order.
    var all: some Collection<BSONValue> { ids.values }

    subscript(key: DocumentKey) -> BSONValue? { ids[key] }

    /// Notes the document that has this key: of a change, or the document itself.
    mutating func insert(_ document: borrowing BSONView) throws(BSONError) {
        guard let element = try document.find("_id"), let key = try DocumentKey(of: document), ids[key] == nil else {
            return
        }
        guard ids.count < Self.maximumCount, bytes + element.valueLength <= Self.maximumBytes else {
            isIncomplete = true
            return
        }
        bytes += element.valueLength
        ids[key] = try document.value(element)
    }
}
