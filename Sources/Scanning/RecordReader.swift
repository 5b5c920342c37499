import BSON
import Concurrency
import Mongo

/// Reads a part of a collection from one member of the replica set, in the order of the member's record numbers
/// (`$recordId`).
///
/// After a lost cursor, the reader resumes with the same member, after the last record that it read. The reader uses no
/// filter: with a filter, the server would report the end of a part only with the next matching document.
struct RecordReader: ResumingReader {
    let collection: MongoCollection
    let plan: RecordPlan
    let range: RecordRange
    let reads: MemberReads
    /// The largest number of documents in a batch.
    var batchSize = 4_000
    /// The longest time for retries, counted from the first failure since the last document was read.
    var retryLimit = Duration.seconds(60)
    /// Returns whether to give up; called before the reader replaces a lost cursor.
    var isStopped: () -> Bool = { false }

    /// Calls `body` with every document of the part, each only once.
    /// - Parameter body: Returns `false` to end the reading.
    /// - Throws: ``MemberLost`` if the member stays unreachable, or may have renumbered its records; ``MongoError``,
    ///   ``BSONError`` for a damaged document, or an error of `body`.
    func read(_ body: (borrowing BSONView) throws -> Bool) throws {
        try readApart(body)
    }

    func readOn(_ body: (borrowing BSONView) throws -> Bool) throws {
        var place = range.after?.place
        var retries = Retries(limit: retryLimit)
        var isRecordGone = false
        var isRead = false
        while true {
            let start = place
            do {
                if isRecordGone {
                    isRead = try !readExactly(after: &place, through: range.through, isForStart: true, body)
                    isRecordGone = false
                }
                if !isRead { try readBatches(after: &place, body) }
                isRead = true
                // A restart of the member between two cursors causes no error, but may renumber the records. The
                // member's process must therefore still be the process for which the `RecordPlan` was made.
                try expectSameProcess()
                return
            } catch let error as MongoError where error.code == .keyNotFound && place != nil && !isRecordGone {
                // The reader wanted to resume after the record of the last document that it read, but another client
                // has removed that document.
                isRecordGone = true
            } catch let error as MongoError where error.isCursorLost {
                try wait(after: error, &retries, isProgress: place != start)
            }
        }
    }

    /// Waits before the next attempt, and then asks the member whether it has restarted.
    /// - Throws: ``MemberLost`` if the member has restarted, or does not answer within ``retryLimit``.
    private func wait(after error: MongoError, _ retries: inout Retries, isProgress: Bool) throws {
        do throws(MongoError) {
            try retries.wait(after: error, isProgress: isProgress, isStopped: isStopped)
        } catch {
            throw MemberLost(reason: "the member being read does not answer: \(error)")
        }
        do { try expectSameProcess() } catch let error as MongoError where error.isCursorLost {}
    }

    private func expectSameProcess() throws {
        guard try collection.hello(of: reads).process == plan.process else {
            throw MemberLost(reason: "the member being read has restarted")
        }
    }

    /// Reads the batches after `place`; uses only those documents of the last batch that belong to the part.
    private func readBatches(after place: inout Int64?, _ body: (borrowing BSONView) throws -> Bool) throws {
        var cursor = cursor(after: place)
        while try cursor.advance() {
            let position = cursor.position
            if let through = range.through {
                guard let position, position <= through.place else {
                    return try readLast(cursor, after: &place, through: through, body)
                }
            }
            guard try cursor.forEach(body) else { return }
            place = position ?? place
            if let through = range.through, position == through.place { return }
        }
    }

    /// Reads the documents of the batch that contains the part's last record, up to the document of this record.
    ///
    /// If that document is not in the batch or has moved to another record, reads the rest of the part together with
    /// the number of each record.
    private func readLast(
        _ cursor: borrowing RecordCursor, after place: inout Int64?, through: Record,
        _ body: (borrowing BSONView) throws -> Bool
    ) throws {
        var bound = LastID()
        try bound.remember(BSONDocument([("_id", through.id)]).view)
        // Usually the batch contains the document of the part's last record, and the document still has that record
        // number. If another client removed the document, the batch lacks it. If a client inserted it again, it has
        // another record number.
        guard try !cursor.forEach({ try !bound.isID(of: $0) }),
            try RecordPlan.records(of: [through.id], in: collection, reads) == [through]
        else {
            _ = try readExactly(after: &place, through: through, isForStart: false, body)
            return
        }
        _ = try cursor.forEach { try body($0) && !bound.isID(of: $0) }
    }

    /// Reads the documents after `place` together with their record numbers.
    ///
    /// The server starts after the nearest earlier record that the ``RecordPlan`` knows and that still exists, or at
    /// the start of the collection if there is none. The reader skips the documents up to `place`.
    /// - Parameter isForStart: Whether to stop after the first batch that ends after `place`, because a cursor without
    ///   record numbers can resume there.
    /// - Returns: Whether there may be more documents to read.
    private func readExactly(
        after place: inout Int64?, through: Record?, isForStart: Bool, _ body: (borrowing BSONView) throws -> Bool
    ) throws -> Bool {
        let before = plan.known.map(\.place).filter { $0 < place ?? .min }
        for anchor in before.reversed().map(Optional.some) + [nil] {
            do {
                return try readExactly(from: anchor, after: &place, through: through, isForStart: isForStart, body)
            } catch let error as MongoError where error.code == .keyNotFound && anchor != nil {}
        }
        return false
    }

    private func readExactly(
        from anchor: Int64?, after place: inout Int64?, through: Record?, isForStart: Bool,
        _ body: (borrowing BSONView) throws -> Bool
    ) throws -> Bool {
        var cursor = cursor(after: anchor, showsRecords: true)
        while try cursor.advance() {
            if isStopped() { return false }
            let last = place ?? .min
            let isWhole = try cursor.forEach { document in
                let (record, own) = try document.withoutRecord()
                if record <= last { return true }
                if let through, record > through.place { return false }
                return try body(own.view)
            }
            guard isWhole else { return false }
            if let position = cursor.position, position > last {
                place = position
                if isForStart { return true }
            }
        }
        return false
    }

    private func cursor(after place: Int64?, showsRecords: Bool = false) -> RecordCursor {
        collection.records(
            reads, after: place, showsRecords: showsRecords,
            // A read that shows record numbers starts before `place` and skips documents. Skipped documents do not
            // count for the rate limit, so the batches need not be small.
            batchSize: showsRecords ? max(batchSize, 1_000) : batchSize, comment: "shipshape check")
    }
}

/// The error that the chosen member cannot read the collection to its end.
///
/// No other member can continue, because each member numbers the records differently.
struct MemberLost: Error {
    /// A clause that says why the member cannot read the collection to its end.
    let reason: String
}

extension BSONView {
    /// Returns the record number that the server added at the end of a document, and the document without that number.
    fileprivate borrowing func withoutRecord() throws -> (Int64, BSONDocument) {
        let (name, place) = ("$recordId", end - 9)
        let nameStart = place - 1 - name.utf8.count
        guard nameStart > start + 4, BSONType(rawValue: byte(nameStart - 1)) == .long,
            bytes.extracting(nameStart..<place - 1).isEqual(to: name)
        else {
            // If a document itself has a field `$recordId`, the server replaces that field, so the record number is not
            // at the end of the document.
            throw MemberLost(reason: "a document contains a field \"\(name)\"")
        }
        let content = bytes.extracting(start + 4..<nameStart - 1)
        let total = UInt32(content.byteCount + 5)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: total >> (8 * UInt32($0))) }
        let own = unsafe content.withUnsafeBytes { unsafe Array($0) }
        return (Int64(bitPattern: word(place)), try BSONDocument(bytes: header + own + [0]))
    }
}
