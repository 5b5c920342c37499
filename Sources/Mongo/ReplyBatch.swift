internal import BSON
internal import CMongoC

/// The reply to a `find` or a `getMore`, in the driver's own buffer: nothing is copied.
@safe
struct ReplyBatch: ~Copyable {
    private var reply = unsafe cmongoc_reply()

    init() {}

    init(owning reply: cmongoc_reply) { unsafe self.reply = reply }

    var byteCount: Int { unsafe Int(reply.length) }

    deinit { if let data = unsafe reply.data { unsafe bson_free(data) } }

    /// Returns the cursor's id, and the record id (`$recordId`) at which the cursor is after this batch.
    /// - Returns: `id` is 0 if there are no more batches; `record` is `nil` if the reply has no record id.
    func place() throws(BSONError) -> (id: Int64, record: Int64?) {
        guard let data = unsafe reply.data else { return (0, nil) }
        let view = try BSONView(unsafe RawSpan(_unsafeStart: data, byteCount: Int(reply.length)))
        guard let found = try view.find("cursor"), found.type == .object else { return (0, nil) }
        let cursor = try view.document(found)
        var record: Int64?
        if let token = try cursor.find("postBatchResumeToken"), token.type == .object {
            let token = try cursor.document(token)
            if let place = try token.find("$recordId"), place.type == .long { record = token.int64(place) }
        }
        guard let id = try cursor.find("id"), id.type == .long else { return (0, record) }
        return (cursor.int64(id), record)
    }

    /// Calls `body` with every document of the batch.
    /// - Parameter body: returns `false` to stop.
    /// - Returns: `false` if `body` stopped.
    func forEach(_ body: (borrowing BSONView) throws -> Bool) throws -> Bool {
        guard let data = unsafe reply.data else { return true }
        let view = try BSONView(unsafe RawSpan(_unsafeStart: data, byteCount: Int(reply.length)))
        guard let found = try view.find("cursor"), found.type == .object else { return true }
        let cursor = try view.document(found)
        guard let list = try cursor.find("nextBatch") ?? cursor.find("firstBatch"), list.type == .array else {
            return true
        }
        let batch = try cursor.document(list)
        var position = batch.firstPosition
        while let element = try batch.next(&position) {
            guard element.type == .object else { continue }
            // Each document gets a span of its bytes, so that its offsets count from its own first byte.
            let bytes = batch.bytes.extracting(element.valueOffset..<element.valueOffset + element.valueLength)
            guard try body(try BSONView(bytes)) else { return false }
        }
        return true
    }
}

extension ClientLease {
    /// Runs a `find` or a `getMore` on the member that the options name, and returns its reply.
    func runForBatch(
        _ command: BSONDocument, on database: String, options: BSONDocument,
        readPreference: ReadPreference = .chosenMember
    ) throws(MongoError) -> ReplyBatch {
        try pool.overload.retrying(writes: false) { () throws(MongoError) in
            var error = bson_error_t()
            var answer = unsafe cmongoc_reply()
            let isDone = unsafe run(.raw, command, on: database, options: options, readPreference, &answer, &error)
            guard isDone else { throw explained(MongoError(error, reply: unsafe answer.take(), host: host)) }
            return unsafe ReplyBatch(owning: answer)
        }
    }
}
