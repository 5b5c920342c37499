/// A document that owns its bytes.
///
/// The document's length and terminator are checked when it is created; each element is checked when it is read.
public struct BSONDocument: Hashable, Sendable {
    /// The bytes of the document, in the BSON format.
    public let bytes: [UInt8]

    /// Creates a document from its bytes.
    /// - Throws: ``BSONError`` when the length field differs from the number of bytes, or the terminator is missing.
    public init(bytes: [UInt8]) throws(BSONError) {
        _ = try BSONView(unsafe bytes.span.bytes)
        self.bytes = bytes
    }

    /// Creates a copy of the document of a view.
    public init(copying view: borrowing BSONView) {
        self.init(trusted: view.bytes.extracting(view.start..<view.end).copied())
    }

    /// Creates a document from bytes that this module built, without checking them.
    init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a document of the given elements, in their order.
    public init(_ elements: some Sequence<(String, BSONValue)>) {
        var builder = BSONBuilder()
        for (name, value) in elements { builder.append(name, value) }
        self = builder.finish()
    }

    /// Creates an empty document.
    public init() { self.init(trusted: [5, 0, 0, 0, 0]) }

    /// A view of the document's bytes, without a copy.
    public var view: BSONView {
        @_lifetime(borrow self)
        get {
            // `init` checked the length and the terminator, and the bytes do not change.
            do { return try BSONView(unsafe bytes.span.bytes) } catch { preconditionFailure("\(error)") }
        }
    }

    /// Hashes all bytes at once; the synthesized method is slower, because it hashes them one after another.
    public func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Whether the document has no elements.
    public var isEmpty: Bool { bytes.count == 5 }

    /// The value of the first element with the name; `nil` if there is none, or if it or an element before it is
    /// damaged.
    public subscript(name: String) -> BSONValue? {
        let view = view
        guard let element = try? view.find(name) else { return nil }
        return try? view.value(element)
    }

    /// Returns all elements in their order.
    /// - Throws: ``BSONError`` at the first damaged element; ``BSONView/validate()`` also checks the elements of nested
    ///   documents.
    public func elements() throws(BSONError) -> [(name: String, value: BSONValue)] {
        var result: [(name: String, value: BSONValue)] = []
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            result.append((view.name(element), try view.value(element)))
        }
        return result
    }

    /// The values of the top-level elements, without their names.
    ///
    /// If the bytes are damaged, the list ends at the damage.
    public var values: [BSONValue] {
        var result: [BSONValue] = []
        let view = view
        var position = view.firstPosition
        while let element = try? view.next(&position), let value = try? view.value(element) { result.append(value) }
        return result
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    /// Creates a document from a literal; its names keep their order, and may repeat.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self.init(elements) }
}

extension BSONDocument {
    /// Returns the document with one more element at its end; a name that exists already then occurs twice.
    public func appending(_ name: String, _ value: BSONValue) -> BSONDocument {
        var builder = BSONBuilder(continuing: self)
        builder.append(name, value)
        return builder.finish()
    }

    /// Returns the document without the top-level elements of this name.
    /// - Throws: ``BSONError`` when an element of the top level is damaged.
    public func removing(_ name: String) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if !view.nameBytes(element).isEqual(to: name) { builder.append(element, of: view) }
        }
        return builder.finish()
    }

    /// Returns the document with a new value for the first top-level element of this name.
    ///
    /// If there is no such element, it is added at the end. Further elements of the name are removed.
    /// - Throws: ``BSONError`` when an element of the top level is damaged.
    public func replacing(_ name: String, with value: BSONValue) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        var isReplaced = false
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if !view.nameBytes(element).isEqual(to: name) {
                builder.append(element, of: view)
            } else if !isReplaced {
                builder.append(name, value)
                isReplaced = true
            }
        }
        if !isReplaced { builder.append(name, value) }
        return builder.finish()
    }
}

extension BSONDocument {
    /// Whether two documents have the same fields with the same bytes at every level, in any order.
    ///
    /// Numbers of different types are different here, unlike in ``BSONView/hasEqualFields(to:)``.
    public func hasSameFields(as other: BSONDocument) -> Bool {
        if bytes == other.bytes { return true }
        guard bytes.count == other.bytes.count else { return false }
        return ordered == other.ordered
    }

    /// The document with the fields of every object sorted by the bytes of their names.
    ///
    /// An array's elements get their indexes as names. A damaged document is returned unchanged.
    public var ordered: BSONDocument { (try? ordered(asArray: false)) ?? self }

    private func ordered(asArray isArray: Bool) throws(BSONError) -> BSONDocument {
        var fields: [(name: [UInt8], element: BSONElement)] = []
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            fields.append((isArray ? [] : view.nameBytes(element).copied(), element))
        }
        if !isArray {
            fields.sort {
                $0.name == $1.name
                    ? $0.element.nameOffset < $1.element.nameOffset : $0.name.lexicographicallyPrecedes($1.name)
            }
        }
        var builder = BSONBuilder()
        for (index, field) in fields.enumerated() {
            let name = isArray ? Array(String(index).utf8) : field.name
            switch field.element.type {
            case .object:
                let inner = BSONDocument(copying: try view.document(field.element))
                builder.append(name, .object(inner.ordered))
            case .array:
                let inner = BSONDocument(copying: try view.document(field.element))
                builder.append(name, .array((try? inner.ordered(asArray: true)) ?? inner))
            default: builder.append(name, field.element, of: view)
            }
        }
        return builder.finish()
    }
}
