import BSON
import Checking
import SystemPackage

/// Finds the `_id`s of a collection that have the same text, such as 1 and "1".
struct EqualTextSearch: ~Copyable {
    /// The largest number of `_id`s that are returned.
    static var most: Int { 1 << 18 }

    /// Whether the search reached the limit, so that there may be more `_id`s with equal texts than it returned.
    private(set) var isIncomplete = false

    /// A clause for results without a search.
    static let missing = "_ids with the text of another one were not looked for"
    /// A clause for results of a search that reached the limit.
    static let incomplete = "more _ids have the text of another one than can be compared"

    /// Returns a clause for results without a search, because of an error of the temporary file.
    static func missing(because error: Errno) -> String {
        "\(missing), because the temporary file failed: \(error) (TMPDIR names its folder)"
    }

    private let schema: CompiledSchema
    private let log: KeyLog

    init(_ schema: CompiledSchema, folder: String?) {
        self.schema = schema
        log = KeyLog(folder: folder)
    }

    /// Reads the documents, and returns the `_id`s that have the same text as another `_id`.
    /// - Parameter read: Calls its argument with every document, or with a document that has only the `_id`.
    /// - Throws: ``BSONError`` for a damaged document, `Errno` of the temporary file, or what `read` throws.
    mutating func ids(_ read: ((borrowing BSONView) throws -> Void) throws -> Void) throws -> [BSONValue] {
        try read { document in
            guard let text = try schema.idText(of: document), let id = try document.find("_id") else { return }
            var hasher = KeyHasher()
            unsafe hasher.combine(text.span.bytes)
            log.insert(hasher.hash, id, of: document)
        }
        var ids: [BSONValue] = []
        let shared = SharedKeys(logs: [log])
        for part in 0..<KeyLog.partCount {
            try shared.find(in: part) { groups in
                try groups.read { _, _, document in
                    guard ids.count < Self.most else { return isIncomplete = true }
                    if let id = try document.find("_id") { ids.append(try document.value(id)) }
                }
            }
        }
        // The result is sorted in the server's order, so that reports show the same `_id`s as examples in each run.
        return ids.sorted(by: BSONOrder.precedes)
    }
}
