import BSON
import Concurrency
import Mongo

/// Reads a part of a collection in the order in which a member keeps its records, and goes on after a lost cursor where it
/// was, with the same member.
///
/// It reads everything: the server would tell where a filter's part ends only at the next document that fits.
struct RecordReader {
    let collection: MongoCollection
    let plan: RecordPlan
    let range: RecordRange
    let reads: MemberReads
    /// Documents that the server sends at once.
    var batchSize = 4_000
    /// How long after the first failure without a document in between it still tries.
    var patience = Duration.seconds(60)
    /// Asked before a lost cursor is tried again.
    var isStopped: () -> Bool = { false }

    /// Lends every document of the part to `body`, once each.
    /// - Parameter body: gives `false` to stop.
    /// - Throws: ``MemberLost`` when the member stays unreachable, or may number its records anew; ``MongoError``,
    ///   ``BSONError`` for a damaged document, and what `body` throws.
    func read(_ body: (borrowing BSONView) throws -> Bool) throws {
        do {
            try readOn { document in
                do { return try body(document) } catch { throw BodyError(cause: error) }
            }
        } catch let error as BodyError {
            throw error.cause
        }
    }

    /// An error of who looks at the documents, which is none of the cursor's: what was lent must not be lent again.
    private struct BodyError: Error {
        let cause: any Error
    }

    private func readOn(_ body: (borrowing BSONView) throws -> Bool) throws {
        var place = range.after?.place
        var retries = Retries(limit: patience)
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
                // It may have been restarted between two cursors, without an error here.
                try expectSameProcess()
                return
            } catch let error as MongoError where error.code == .keyNotFound && place != nil && !isRecordGone {
                // Somebody removed the document that it was to go on behind.
                isRecordGone = true
            } catch let error as MongoError where error.isCursorLost {
                try wait(after: error, &retries, isProgress: place != start)
            }
        }
    }

    /// Waits until the member answers again, and makes sure that it is the same process.
    private func wait(after error: MongoError, _ retries: inout Retries, isProgress: Bool) throws {
        do throws(MongoError) {
            try retries.wait(after: error, isProgress: isProgress, isStopped: isStopped)
        } catch {
            throw MemberLost(reason: "the member that was read does not answer: \(error)")
        }
        do { try expectSameProcess() } catch let error as MongoError where error.isCursorLost {}
    }

    private func expectSameProcess() throws {
        guard try collection.hello(of: reads).process == plan.process else {
            throw MemberLost(reason: "the member that was read was restarted")
        }
    }

    /// Reads batches as they come, and of the last one what belongs to the part.
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

    /// Reads a batch that goes beyond the part's last record: up to its document, when that is in the batch.
    private func readLast(
        _ cursor: borrowing RecordCursor, after place: inout Int64?, through: Record,
        _ body: (borrowing BSONView) throws -> Bool
    ) throws {
        var bound = LastID()
        try bound.remember(BSONDocument([("_id", through.id)]).view)
        // What was removed is not in the batch, and what was inserted anew has another place.
        guard try !cursor.forEach({ try !bound.isID(of: $0) }),
            try RecordPlan.records(of: [through.id], in: collection, reads) == [through]
        else {
            _ = try readExactly(after: &place, through: through, isForStart: false, body)
            return
        }
        _ = try cursor.forEach { try body($0) && !bound.isID(of: $0) }
    }

    /// Reads with the number of each record, from behind one that is known to be there still.
    /// - Parameter isForStart: whether to read no more than a batch: then there is a record again to go on behind.
    /// - Returns: whether there may be more.
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
            // What is skipped is no load on anybody.
            batchSize: showsRecords ? max(batchSize, 1_000) : batchSize, comment: "shipshape check")
    }
}

/// One member cannot read a collection's records to the end, and another has other numbers for them.
struct MemberLost: Error {
    /// Why, a clause.
    let reason: String
}

extension BSONView {
    /// The number that a server added behind the document's own fields, and the document without it.
    fileprivate borrowing func withoutRecord() throws -> (Int64, BSONDocument) {
        let (name, place) = ("$recordId", end - 9)
        let nameStart = place - 1 - name.utf8.count
        guard nameStart > start + 4, BSONType(rawValue: byte(nameStart - 1)) == .long,
            bytes.extracting(nameStart..<place - 1).isEqual(to: name)
        else {
            // The server puts the number in the place of a field of that name.
            throw MemberLost(reason: "a document has a field \"\(name)\" of its own")
        }
        let content = bytes.extracting(start + 4..<nameStart - 1)
        let total = UInt32(content.byteCount + 5)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: total >> (8 * UInt32($0))) }
        let own = unsafe content.withUnsafeBytes { unsafe Array($0) }
        return (Int64(bitPattern: word(place)), try BSONDocument(bytes: header + own + [0]))
    }
}
