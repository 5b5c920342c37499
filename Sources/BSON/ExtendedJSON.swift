/// MongoDB's extended JSON, version 2, as libbson reads and writes it.
///
/// Writing is limited to 200 levels of nesting and to text in UTF-8. Reading is limited to 98 levels of nesting and to
/// names without a NUL. The text of JavaScript code ends at a NUL. `-0` is read as the `int` 0, and the payload of a
/// NaN is lost. JavaScript code and DBPointers inside an array are refused. JavaScript code inside the scope of other
/// code is read as an object.
public enum ExtendedJSON {
    /// The form of numbers and dates in extended JSON.
    public enum Form: Hashable, Sendable {
        /// The type of every value is written, so that the text can be read back to the same bytes.
        case canonical
        /// The form for readers: numbers other than decimals are plain, and dates of the years 1970 to 9999 are ISO
        /// 8601 text.
        ///
        /// Infinities, NaN and earlier dates have the canonical form. A document with a later date is canonical as a
        /// whole. A double has up to 20 digits: 0.1 is written as `0.10000000000000000555`, which is read back as the
        /// same double.
        case relaxed
    }

    /// The most levels of nesting that libbson can write; it would replace deeper levels by an ellipsis.
    static let maximumDepth = 200
}

extension BSONDocument {
    /// Returns the document as extended JSON; see ``BSONView/extendedJSON(_:)``.
    public func extendedJSON(_ form: ExtendedJSON.Form = .canonical) throws(BSONError) -> String {
        try view.extendedJSON(form)
    }

    /// Reads one document from extended JSON, canonical or relaxed.
    /// - Throws: ``BSONError`` with the parser's message, but without the parts that quote the text.
    public init(extendedJSON text: String) throws(BSONError) { try self.init(extendedJSON: text, prefix: 0) }

    /// Reads one document from extended JSON to which this module has added some bytes at the start.
    /// - Parameter prefix: the number of these bytes; positions in errors do not count them.
    fileprivate init(extendedJSON text: String, prefix: Int) throws(BSONError) {
        try JSONObjectScanner.checkOneObject(text, prefix: prefix)
        guard let substituted = TypeOperators.substituted(in: text) else {
            try self.init(LibBSON.parse(text), prefix: prefix)
            return
        }
        try self.init(LibBSON.parse(substituted).map(TypeOperators.restored), prefix: prefix)
    }

    /// Reads one document from the UTF-8 text of one object, with no text before or after it.
    init(extendedJSON object: RawSpan) throws(BSONError) {
        try self.init(unsafe object.withUnsafeBytes { unsafe LibBSON.parse($0) }, prefix: 0)
    }

    private init(_ parsed: Result<[UInt8], LibBSON.Message>, prefix: Int) throws(BSONError) {
        switch parsed {
        case .success(let bytes):
            self.init(trusted: bytes)
            try ExtendedJSON.checkRead(view, isArray: false)
        case .failure(let message):
            throw BSONError(.invalidJSON, at: 0, detail: message.redacted(shiftingPositionsBy: -prefix))
        }
    }
}

extension ExtendedJSON {
    /// Throws if libbson gave an array's element a wrong name.
    ///
    /// In an array, libbson 1.23 gives JavaScript code and DBPointers a name that was left over in memory.
    fileprivate static func checkRead(_ view: borrowing BSONView, isArray: Bool) throws(BSONError) {
        var position = view.firstPosition
        var index = 0
        while let element = try view.next(&position) {
            guard !isArray || view.nameBytes(element).isEqual(to: String(index)) else {
                throw BSONError(.invalidJSON, at: 0, detail: "\(element.type) in an array is not supported")
            }
            index += 1
            switch element.type {
            case .object: try checkRead(view.document(element), isArray: false)
            case .array: try checkRead(view.document(element), isArray: true)
            case .javascriptWithScope: try checkRead(view.scope(element), isArray: false)
            default: break
            }
        }
    }
}

extension BSONValue {
    /// Returns the value as extended JSON, such as `5`, `"text"` or `{ "$oid" : "…" }`.
    /// - Throws: ``BSONError`` when ``BSONView/extendedJSON(_:)`` refuses a document with the value.
    public func extendedJSON(_ form: ExtendedJSON.Form = .canonical) throws(BSONError) -> String {
        let text = try BSONDocument(CollectionOfOne(("v", self))).extendedJSON(form)
        let (head, tail) = ("{ \"v\" : ", " }")
        precondition(text.hasPrefix(head) && text.hasSuffix(tail), "libbson writes one element with these spaces")
        return String(text.dropFirst(head.count).dropLast(tail.count))
    }

    /// Reads one value from extended JSON, such as `5`, `"text"` or `{"$oid": "…"}`.
    /// - Throws: the errors of ``BSONDocument/init(extendedJSON:)``; ``BSONError`` when there is more than one value.
    public init(extendedJSON text: String) throws(BSONError) {
        let head = "{\"v\":"
        let document = try BSONDocument(extendedJSON: head + text + "}", prefix: head.utf8.count)
        let elements = try document.elements()
        guard let value = elements.first?.value, elements.count == 1 else {
            throw BSONError(.invalidJSON, at: 0, detail: "more than one value")
        }
        self = value
    }
}
