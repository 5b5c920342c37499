internal import BSON
internal import CMongoC

extension BSONDocument {
    /// Calls `body` with the document's bytes in the form that the C functions take; the bytes are valid only during
    /// the call.
    func lend<R, E: Error>(_ body: (cmongoc_document) throws(E) -> R) throws(E) -> R {
        let span = bytes.span
        return try unsafe span.withUnsafeBufferPointer { buffer throws(E) in
            try unsafe body(cmongoc_document(data: buffer.baseAddress, length: buffer.count))
        }
    }

    /// Copies a document from the driver's memory; `nil` if there is none, or if the bytes are not a document.
    init?(copying lent: cmongoc_document) {
        guard let data = unsafe lent.data else { return nil }
        let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: lent.length))
        guard let document = try? BSONDocument(bytes: bytes) else { return nil }
        self = document
    }
}

/// Calls `body` with the C forms of three arguments that many functions of the driver take.
///
/// The first is a command, a filter or a pipeline; the others are its options and the read preference.
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
    /// Copies the reply and frees the driver's memory; returns an empty document if there is no reply, or if it is not
    /// BSON.
    consuming func take() -> BSONDocument {
        guard let data = unsafe self.data else { return BSONDocument() }
        defer { unsafe bson_free(data) }
        return unsafe BSONDocument(copying: cmongoc_document(data: data, length: Int(length))) ?? BSONDocument()
    }
}
