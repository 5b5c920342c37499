package import BSON
import Concurrency
package import Mongo

/// Reads a range of a collection in the order of `_id`; after a lost cursor, resumes at the last `_id` that it read.
package struct RangeReader: ResumingReader {
    let collection: MongoCollection
    let range: IDRange
    /// Whether the namespace is a view.
    ///
    /// A lost cursor of a view is an error, because the reading of a view cannot resume.
    let isView: Bool
    /// The longest time for retries, counted from the first failure since the last document was read.
    let retryLimit: Duration
    /// A filter that the documents must match in addition to being in the range; empty for no filter.
    var filter: BSONDocument = [:]
    /// The options that make the reads part of a session; empty if the reads belong to no session.
    var session: BSONDocument = [:]
    /// The largest number of documents in a batch.
    var batchSize = 10_000
    /// Returns whether to give up; called before the reader replaces a lost cursor.
    var isStopped: () -> Bool = { false }

    package init(
        _ collection: MongoCollection, range: IDRange, isView: Bool = false, retryLimit: Duration = .seconds(60)
    ) {
        self.collection = collection
        self.range = range
        self.isView = isView
        self.retryLimit = retryLimit
    }

    /// Calls `body` with every document of the range that matches ``filter``, each only once.
    /// - Parameter body: Returns `false` to end the reading.
    /// - Throws: ``MongoError`` if the deployment stays unreachable, ``BSONError`` for a damaged document, or an error
    ///   of `body`.
    package func read(_ body: (borrowing BSONView) throws -> Bool) throws {
        try readApart(body)
    }

    func readOn(_ body: (borrowing BSONView) throws -> Bool) throws {
        var last = LastID()
        var retries = Retries(limit: retryLimit)
        while true {
            do {
                var isEnded = false
                try read(after: &last) { view in
                    isEnded = try !body(view)
                    return !isEnded
                }
                if !isEnded { try readMaxKey(after: last, body) }
                return
            } catch let error as MongoError where error.isCursorLost && !isView {
                try retries.wait(after: error, isProgress: last.advance(), isStopped: isStopped)
            }
        }
    }

    private func read(after last: inout LastID, _ body: (borrowing BSONView) throws -> Bool) throws {
        var resumed = try last.value()
        // If the bound contains a field with an empty name, the driver refuses to open a cursor. It accepts the bound
        // in a command, which reads one batch.
        while let lower = resumed, lower.hasNamelessField {
            guard try readBatch(from: lower, after: &last, body) else { return }
            resumed = try last.value()
        }
        var options = BSONBuilder(continuing: bounds(from: resumed ?? range.lower))
        for (name, value) in try self.options.elements() { options.append(name, value) }
        var cursor = collection.find(filter, options: options.finish())
        var mayRepeat = resumed != nil
        cursor.adaptBatches(BatchSize(most: batchSize))
        while let view = try cursor.next() {
            if mayRepeat {
                mayRepeat = false
                if try last.isID(of: view) { continue }
            }
            try last.remember(view)
            guard try body(view) else { return }
        }
    }

    /// Reads the document with the `_id` MaxKey, if the range has no upper bound and the document was not read yet.
    ///
    /// A read with the index bound `min` and without `max` does not return this document.
    private func readMaxKey(after last: LastID, _ body: (borrowing BSONView) throws -> Bool) throws {
        guard range.upper == nil, !isView, try last.value() != .maxKey else { return }
        let isLast: BSONValue = ["_id": ["$eq": .maxKey]]
        let filter = filter.isEmpty ? isLast.document ?? [:] : ["$and": [.object(filter), isLast]]
        var cursor = collection.find(filter, options: options)
        if let view = try cursor.next() { _ = try body(view) }
    }

    /// Reads one batch of the documents after the `_id` `lower`.
    /// - Returns: Whether there may be more documents to read.
    private func readBatch(
        from lower: BSONValue, after last: inout LastID, _ body: (borrowing BSONView) throws -> Bool
    ) throws -> Bool {
        var arguments = BSONBuilder(continuing: bounds(from: lower))
        let others: BSONValue = ["_id": ["$ne": lower]]
        arguments.append("filter", filter.isEmpty ? others : ["$and": [.object(filter), others]])
        arguments.append("batchSize", .integer(batchSize))
        let options: BSONDocument = ["readConcern": ["level": "majority"]]
        let batch = try collection.findBatch(
            arguments.finish(), options: BSONDocument(try options.elements() + session.elements()))
        for document in batch {
            try last.remember(document.view)
            guard try body(document.view) else { return false }
        }
        return !batch.isEmpty
    }

    private func bounds(from lower: BSONValue?) -> BSONDocument {
        var bounds = BSONBuilder()
        if !isView { bounds.append("hint", ["_id": 1]) }
        if let lower { bounds.append("min", ["_id": lower]) }
        if let upper = range.upper { bounds.append("max", ["_id": upper]) }
        return bounds.finish()
    }

    private var options: BSONDocument {
        var options = BSONBuilder(continuing: session)
        options.append("batchSize", .integer(BatchSize(most: batchSize).documents))
        options.append("comment", "shipshape check")
        options.append("readConcern", ["level": "majority"])
        return options.finish()
    }
}
