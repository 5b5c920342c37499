package import BSON
package import Checking
package import Mongo
package import Scanning

/// Asks the server for its own verdicts on a sample of the documents that a check judged by a validator.
///
/// The server is asked for the documents that it accepts, and then for those of the others that it refuses. The program
/// judges the bytes that the server returns with its verdict, so a document that changes in the meantime makes no
/// difference.
package struct VerdictSample {
    /// The schema by which the check judges, without the rules of an engine.
    private let schema: CompiledSchema
    /// The same schema as the value of `$jsonSchema`.
    private let validator: BSONDocument
    /// The filter of the documents that the check reads; empty for all.
    private let selection: BSONDocument
    private let build: BuildInfo

    private static var mostDocuments: Int { 10_000 }
    private static let (leastBatch, mostBatch) = (100, 500)
    private static var smallCount: Int { 10_000 }
    /// The number of bytes after which a query is ended.
    private static var batchBytes: Int { 16 << 20 }

    /// The error by which a query ends after ``batchBytes``.
    private struct Enough: Error {}

    package init(
        of schema: CompiledSchema, as validator: BSONDocument, selection: BSONDocument, on build: BuildInfo
    ) {
        self.schema = schema
        self.validator = validator
        self.selection = selection
        self.build = build
    }

    /// Compares the verdicts on a random sample of the documents; blocks the thread.
    /// - Parameters:
    ///   - count: the number of documents that the check judged.
    ///   - failing: the `_id`s of failing documents, which are compared first.
    ///   - time: the time that the comparison may take, except for the first batch.
    ///   - options: the rate limit of the check, and its stop signal.
    /// - Throws: ``BSONError`` for a damaged document. An error of the server ends the comparison, and is its
    ///   restriction.
    package func compare(
        in collection: MongoCollection, of count: Int, failing: [BSONValue], for time: Duration, options: ScanOptions
    ) throws -> VerdictComparison {
        var result = VerdictComparison(version: build.version)
        if build.isKnownToDiffer(on: validator) {
            result.restriction = "servers are known to judge this schema differently"
            return result
        }
        do {
            let clock = ContinuousClock()
            let deadline = clock.now.advanced(by: time)
            var seen: Set<IDKey> = []
            // The server reads a small collection as a whole for a sample of any size, so a large sample costs no more.
            var size = count > Self.smallCount ? Self.leastBatch : Self.mostBatch
            while size >= Self.leastBatch {
                let begun = clock.now
                let named = seen.isEmpty ? Array(failing.prefix(size / 2)) : []
                let ids = (named + (try sample(of: collection, size - named.count))).filter {
                    seen.insert(IDKey($0)).inserted
                }
                if ids.isEmpty { break }
                try compare(ids, in: collection, into: &result)
                options.rate?.take(ids.count, isStopped: options.isStopped)
                if options.isStopped() { throw ScanStopped() }
                let each = begun.duration(to: clock.now) / ids.count
                size = min(
                    Self.mostBatch, Self.mostDocuments - seen.count, Int(clock.now.duration(to: deadline) / each))
            }
        } catch let error as MongoError {
            if options.isStopped() { throw ScanStopped() }
            result.restriction = "\(error)"
        }
        // Servers before 6.1 match patterns with PCRE 8, and find no match after a number of steps.
        if result.differenceCount > 0, !build.isAtLeast(6, 1), try validator.extendedJSON().contains(#""pattern"#) {
            let differing = result.differenceCount == 1 ? "1 document" : "\(result.differenceCount) documents"
            result.restriction = "servers before 6.1 match some patterns differently, as in \(differing)"
            result.count -= result.differenceCount
            (result.differenceCount, result.differences) = (0, [])
        }
        return result
    }

    private func sample(of collection: MongoCollection, _ size: Int) throws(MongoError) -> [BSONValue] {
        let pipeline: [BSONDocument] = [["$sample": ["size": .integer(size)]], ["$project": ["_id": 1]]]
        return try collection.aggregate(pipeline, options: Self.options).documents().compactMap { $0["_id"] }
    }

    private func compare(
        _ ids: [BSONValue], in collection: MongoCollection, into result: inout VerdictComparison
    ) throws {
        var accepted: Set<IDKey> = []
        func read(_ ids: [BSONValue], _ condition: BSONDocument, isAccepted: Bool) throws {
            let filter = selection.isEmpty ? condition : ["$and": [.object(selection), .object(condition)]]
            var bytes = 0
            do {
                try IDReader(collection: collection, filter: filter, options: Self.options).read(ids) { document in
                    guard let id = try document.find("_id").map({ try document.value($0) }) else { return }
                    if isAccepted { accepted.insert(IDKey(id)) }
                    result.add(id, isAccepted: isAccepted, fits: try schema.check(document) == .fits)
                    bytes += document.bytes.byteCount
                    if bytes > Self.batchBytes { throw Enough() }
                }
            } catch is Enough {}
        }
        // The queries name no collation. An index on `_id` has that of the collection, and `$jsonSchema` uses none.
        let condition: BSONDocument = ["$jsonSchema": .object(validator)]
        try read(ids, condition, isAccepted: true)
        let others = ids.filter { !accepted.contains(IDKey($0)) }
        if !others.isEmpty { try read(others, ["$nor": [.object(condition)]], isAccepted: false) }
    }

    private static let options: BSONDocument = [
        // One more than the documents, so that the server ends its cursor with the first reply.
        "batchSize": .integer(mostBatch + 1), "readConcern": ["level": "majority"],
        "comment": "shipshape check --prove",
    ]
}
