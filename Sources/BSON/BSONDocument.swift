/// A document that owns its bytes.
///
/// Its own length and terminator are checked; its elements are as they are walked.
public struct BSONDocument: Hashable, Sendable {
    /// The document as it stands on the wire.
    public let bytes: [UInt8]

    /// Takes bytes that are one whole document.
    /// - Throws: ``BSONError`` when the length field or the terminator says otherwise.
    public init(bytes: [UInt8]) throws(BSONError) {
        _ = try BSONView(unsafe bytes.span.bytes)
        self.bytes = bytes
    }

    /// Copies the document that a view lends.
    public init(copying view: borrowing BSONView) {
        self.init(trusted: view.bytes.extracting(view.start..<view.end).copied())
    }

    /// Takes bytes that this module built.
    init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// Builds a document of these elements, in this order.
    public init(_ elements: some Sequence<(String, BSONValue)>) {
        var builder = BSONBuilder()
        for (name, value) in elements { builder.append(name, value) }
        self = builder.finish()
    }

    /// The empty document.
    public init() { self.init(trusted: [5, 0, 0, 0, 0]) }

    /// The document's bytes, lent without a copy.
    public var view: BSONView {
        @_lifetime(borrow self)
        get {
            // `init` checked the header, and the bytes are immutable.
            do { return try BSONView(unsafe bytes.span.bytes) } catch { preconditionFailure("\(error)") }
        }
    }

    /// Hashes the bytes as one piece: the synthesized way takes them one by one.
    public func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Whether the document holds no element.
    public var isEmpty: Bool { bytes.count == 5 }

    /// The value of the first element of that name; `nil` when there is none, or the bytes before it are damaged.
    public subscript(name: String) -> BSONValue? {
        let view = view
        guard let element = try? view.find(name) else { return nil }
        return try? view.value(element)
    }

    /// Every element in its order.
    /// - Throws: ``BSONError`` at the first damaged element of this level; ``BSONView/validate()`` looks deeper.
    public func elements() throws(BSONError) -> [(name: String, value: BSONValue)] {
        var result: [(name: String, value: BSONValue)] = []
        let view = view
        var position = view.firstPosition
        while let element = try view.next(&position) {
            result.append((view.name(element), try view.value(element)))
        }
        return result
    }

    /// The values alone: what an array holds.
    ///
    /// Damaged bytes end the list.
    public var values: [BSONValue] {
        var result: [BSONValue] = []
        let view = view
        var position = view.firstPosition
        while let element = try? view.next(&position), let value = try? view.value(element) { result.append(value) }
        return result
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    /// Names keep their order, and may repeat.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self.init(elements) }
}

extension BSONDocument {
    /// The document with one more element at its end; a name that is there already is then there twice.
    public func appending(_ name: String, _ value: BSONValue) -> BSONDocument {
        var builder = BSONBuilder(continuing: self)
        builder.append(name, value)
        return builder.finish()
    }

    /// The document without the top-level elements of that name.
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

    /// The document with this value in the place of the first top-level element of that name, or at the end when
    /// there is none; further elements of that name go.
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
    /// Whether two documents hold the same fields with the same bytes, in whatever order, at every level.
    ///
    /// Unlike ``BSONView/hasEqualFields(to:)`` it tells numbers of different types apart.
    public func hasSameFields(as other: BSONDocument) -> Bool {
        if bytes == other.bytes { return true }
        guard bytes.count == other.bytes.count else { return false }
        return ordered == other.ordered
    }

    /// The document with the fields of every object in the order of their names.
    public var ordered: BSONDocument {
        guard let elements = try? elements() else { return self }
        let named = elements.enumerated().sorted {
            $0.element.name.utf8.elementsEqual($1.element.name.utf8)
                ? $0.offset < $1.offset : $0.element.name.utf8.lexicographicallyPrecedes($1.element.name.utf8)
        }
        return BSONDocument(named.map { ($0.element.name, $0.element.value.ordered) })
    }
}

extension BSONValue {
    fileprivate var ordered: BSONValue {
        switch self {
        case .object(let document): .object(document.ordered)
        case .array(let document): .array(of: document.values.map(\.ordered))
        default: self
        }
    }
}
