internal import CBSON

/// Calls to libbson, which convert BSON to extended JSON and extended JSON to BSON.
enum LibBSON {
    /// libbson's message about text that it cannot read; the message may quote the text.
    struct Message: Error {
        let text: String
    }

    /// Returns a document as text, by `bson_as_canonical_extended_json` or its relaxed counterpart.
    ///
    /// A document with a date after the year 9999 is always written in canonical form, because libbson cannot read back
    /// its own relaxed text of such a date. Returns `nil` if libbson cannot express the document.
    static func json(_ document: UnsafeRawBufferPointer, isRelaxed: Bool) -> String? {
        var length = 0
        let json = unsafe cbson_extended_json(document.baseAddress, document.count, isRelaxed, &length)
        guard let json = unsafe json else { return nil }
        defer { unsafe bson_free(json) }
        return unsafe String(decoding: UnsafeRawBufferPointer(start: json, count: length), as: UTF8.self)
    }

    /// Reads one document from text, by `bson_new_from_json`.
    static func parse(_ text: String) -> Result<[UInt8], Message> {
        var text = text
        return text.withUTF8 { unsafe parse(UnsafeRawBufferPointer($0)) }
    }

    /// Reads one document from UTF-8 bytes, by `bson_new_from_json`.
    static func parse(_ utf8: UnsafeRawBufferPointer) -> Result<[UInt8], Message> {
        var length: UInt32 = 0
        var error = bson_error_t()
        // An empty buffer may have no address. libbson then calls back for more bytes, and reports that the text is
        // empty.
        let start = unsafe utf8.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let bytes = unsafe cbson_from_json(start, utf8.count, &length, &error)
        guard let bytes = unsafe bytes else { return .failure(Message(text: message(of: error))) }
        defer { unsafe bson_free(bytes) }
        return .success(unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(length))))
    }

    private static func message(of error: bson_error_t) -> String {
        unsafe withUnsafeBytes(of: error.message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension LibBSON.Message {
    /// Returns the message without the parts that quote the text, because they may be values of a document.
    ///
    /// `Got parse error at "x", position 8: "CODE"` becomes `code at position 8`; in other messages, the text from the
    /// first to the last quotation mark is replaced by `"…"`.
    func redacted(shiftingPositionsBy shift: Int) -> String {
        let position = text.range(after: "position ").flatMap { Int(text[$0].prefix { $0.isNumber }) }
        if let position, let code = text.split(separator: ": \"").last, code.hasSuffix("\"") {
            return "\(code.dropLast().lowercased().replacing("_", with: " ")) at position \(max(position + shift, 0))"
        }
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 2 else { return text }
        return "\(first)\"…\"\(last)"
    }
}

extension String {
    fileprivate func range(after marker: String) -> Range<Index>? {
        firstRange(of: marker).map { $0.upperBound..<endIndex }
    }
}
