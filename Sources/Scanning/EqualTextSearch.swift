import BSON
import Checking
import SystemPackage

/// Finds the `_id`s of a collection that have the same text, such as 1 and "1".
///
/// The first reading of the `_id`s keeps only hashes of their texts, in bounded memory. If a hash occurs more than
/// once, a second reading keeps the `_id`s whose texts have a repeated hash, and compares these texts.
struct EqualTextSearch: ~Copyable {
    /// The largest number of `_id`s that are kept and compared, because their texts have a repeated hash.
    static var most: Int { 1 << 18 }

    private var hashes: RepeatedHashes
    private var candidates: Set<UInt64> = []
    private var ids: [[UInt8]: [BSONValue]] = [:]
    private var count = 0
    /// Whether the search reached a limit, so that there may be more `_id`s with equal texts than it returned.
    private(set) var isIncomplete = false

    private let schema: CompiledSchema

    init(_ schema: CompiledSchema, folder: String?) {
        self.schema = schema
        hashes = RepeatedHashes(folder: folder)
    }

    /// Reads the documents once or twice, and returns the `_id`s that have the same text as another `_id`.
    /// - Parameter read: Calls its argument with every document, or with a document that has only the `_id`.
    /// - Throws: ``BSONError`` for a damaged document, `Errno` of the temporary file, or what `read` throws.
    mutating func ids(_ read: ((borrowing BSONView) throws -> Void) throws -> Void) throws -> [BSONValue] {
        try read { document in
            guard let text = try schema.idText(of: document) else { return }
            try hashes.insert(Self.hash(text))
        }
        candidates = try hashes.repeated()
        isIncomplete = candidates.count == RepeatedHashes.most
        guard !candidates.isEmpty else { return [] }
        try read { document in try collect(document) }
        // The result is sorted in the server's order, so that reports show the same `_id`s as examples in each run. A
        // text counts only if two different `_id`s have it, because a source may contain the same document twice.
        return ids.values.filter { Set($0.map(IDKey.init)).count > 1 }.flatMap(\.self).sorted(by: BSONOrder.precedes)
    }

    private mutating func collect(_ document: borrowing BSONView) throws(BSONError) {
        guard let text = try schema.idText(of: document), candidates.contains(Self.hash(text)),
            let element = try document.find("_id")
        else { return }
        guard count < Self.most else { return isIncomplete = true }
        count += 1
        ids[text, default: []].append(try document.value(element))
    }

    private static func hash(_ text: [UInt8]) -> UInt64 {
        var hasher = Hasher()
        unsafe text.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
