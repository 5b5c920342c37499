internal import BSON
internal import CMongoC

extension BSONDocument {
    /// Lends the bytes to a shim for the time of a call.
    func lend<R, E: Error>(_ body: (cmongoc_document) throws(E) -> R) throws(E) -> R {
        let span = bytes.span
        return try unsafe span.withUnsafeBufferPointer { buffer throws(E) in
            try unsafe body(cmongoc_document(data: buffer.baseAddress, length: buffer.count))
        }
    }

    /// Copies what the driver lends; `nil` when it lends nothing, or no document.
    init?(copying lent: cmongoc_document) {
        guard let data = unsafe lent.data else { return nil }
        let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: lent.length))
        guard let document = try? BSONDocument(bytes: bytes) else { return nil }
        self = document
    }
}

/// Lends what most calls take: a command, a filter or a pipeline; the options; and the read preference.
func lending<R>(
    _ document: BSONDocument, _ options: BSONDocument, _ preference: ReadPreference?,
    to body: (cmongoc_document, cmongoc_document, OpaquePointer?) -> R
) -> R {
    unsafe document.lend { document in
        unsafe options.lend { options in
            unsafe preference.withHandle { unsafe body(document, options, $0) }
        }
    }
}

extension cmongoc_reply {
    /// Copies the reply and frees the driver's; empty when there is none.
    consuming func take() -> BSONDocument {
        guard let data = unsafe self.data else { return BSONDocument() }
        defer { unsafe bson_free(data) }
        return unsafe BSONDocument(copying: cmongoc_document(data: data, length: Int(length))) ?? BSONDocument()
    }
}
