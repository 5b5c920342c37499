/// Reads extended JSON, canonical or relaxed, as mongoexport writes it.
///
/// The input is one document after another, each on one or several lines, or one array of documents. A byte order mark
/// and blank lines are skipped. If a document has a name twice, both elements are kept.
public struct JSONFileReader: ~Copyable {
    /// The largest text of one document that the reader accepts, in bytes.
    ///
    /// The limit is six times that of BSON, because one byte of a string takes up to six bytes of text.
    public static var maximumTextSize: Int { 6 * BSONFileReader.maximumDocumentSize }

    /// The offset in bytes, in the uncompressed input, of the text of the document that was returned last.
    public private(set) var documentOffset: Int64 = 0
    /// The line in which the document that was returned last begins, counted from 1.
    public private(set) var documentLine = 1
    /// Whether a returned document had an integer without its type, `int` or `long`, as in relaxed extended JSON.
    public private(set) var sawPlainInteger = false

    private enum Place {
        case start, betweenLines, arrayStart, afterElement, afterComma, end
    }

    private var input: DumpInput
    private var place = Place.start
    private var line = 1
    private var document = BSONDocument()

    /// Creates a reader of an open input.
    public init(_ input: consuming DumpInput) { self.input = input }

    /// The number of documents returned so far.
    public var documents: Int { input.documents }

    /// Returns the next document; `nil` at the end.
    ///
    /// The view is valid until the next call.
    /// - Throws: ``DumpError`` when the rest of the source cannot be read; another call throws the same error again.
    @_lifetime(&self)
    public mutating func next() throws(DumpError) -> BSONView? {
        if input.offset == 0 {
            try input.fill(3)
            if input.hasByteOrderMark { input.drop(3) }
        }
        guard try findDocument() else { return nil }
        let extent = try wholeText()
        document = try parse(extent.count)
        documentOffset = input.offset
        documentLine = line
        if extent.holdsPlainInteger { sawPlainInteger = true }
        line += extent.lineBreaks
        input.drop(extent.count)
        input.documents += 1
        place = place == .start || place == .betweenLines ? .betweenLines : .afterElement
        return document.view
    }

    /// Returns the error for damage that the caller found in the document that was returned last.
    public func failure(_ damage: BSONError) -> DumpError {
        DumpError(
            .damaged, path: input.path, offset: documentOffset, documents: documents - 1, damage: damage,
            line: documentLine)
    }
}

extension JSONFileReader {
    /// Moves to the first byte of the next document; returns `false` at the end of the source.
    /// - Throws: ``DumpError`` if other text comes before the next document or before the end of the source, if the
    ///   source ends inside an array, or if the source cannot be read.
    private mutating func findDocument() throws(DumpError) -> Bool {
        while true {
            try input.fill(1)
            if input.pending.isEmpty {
                guard place == .start || place == .betweenLines || place == .end else {
                    throw failure(.unfinished, "the array has no end")
                }
                return false
            }
            switch (input[0], place) {
            case (0x0A, _): line += 1
            case (0x20, _), (0x09, _), (0x0D, _): break
            case (UInt8(ascii: "{"), .start), (UInt8(ascii: "{"), .betweenLines), (UInt8(ascii: "{"), .arrayStart),
                (UInt8(ascii: "{"), .afterComma):
                return true
            case (UInt8(ascii: "["), .start): place = .arrayStart
            case (UInt8(ascii: ","), .afterElement): place = .afterComma
            case (UInt8(ascii: "]"), .arrayStart), (UInt8(ascii: "]"), .afterElement): place = .end
            case (_, .afterElement): throw failure(.damaged, "no comma and no end of the array")
            case (_, .end): throw failure(.damaged, "more text after the array")
            default: throw failure(.damaged, "no document")
            }
            input.drop(1)
        }
    }

    /// Reads until the document is complete, and returns where it ends.
    private mutating func wholeText() throws(DumpError) -> JSONExtent {
        var extent = JSONExtent()
        while true {
            extent.advance(in: input.pendingBytes)
            guard extent.count <= Self.maximumTextSize, extent.commas <= BSONFileReader.maximumDocumentSize / 3 else {
                throw failure(.tooLarge)
            }
            if extent.isDone { return extent }
            guard try input.fillMore() else {
                throw input.failure(.truncated, ahead: input.pending.count, line: line)
            }
        }
    }

    private func parse(_ count: Int) throws(DumpError) -> BSONDocument {
        do {
            return try BSONDocument(extendedJSON: input.bytes(before: 0, count))
        } catch { throw input.failure(.damaged, damage: error, line: line) }
    }

    private func failure(_ code: DumpError.Code, _ detail: String? = nil) -> DumpError {
        let damage = detail.map { BSONError(.invalidJSON, at: 0, detail: $0) }
        return input.failure(code, damage: damage, line: line)
    }
}
