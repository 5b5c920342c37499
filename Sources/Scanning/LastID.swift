import BSON

/// The `_id` of the last document that was read, in a buffer that the next `_id` reuses.
struct LastID {
    private var bytes: [UInt8] = []
    private var marked: [UInt8] = []

    /// Stores the `_id` of a document that was read.
    mutating func remember(_ view: borrowing BSONView) throws(BSONError) {
        guard let element = try Self.id(of: view) else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(element.type.rawValue)
        unsafe Self.content(element, of: view).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    /// Whether a document has the `_id` of the last document that was read.
    ///
    /// The bytes of the `_id`s are compared, because the number NaN does not equal itself.
    func isID(of view: borrowing BSONView) throws(BSONError) -> Bool {
        guard let element = try Self.id(of: view), bytes.first == element.type.rawValue else { return false }
        return unsafe Self.content(element, of: view).withUnsafeBytes { unsafe bytes.dropFirst().elementsEqual($0) }
    }

    /// Returns the bytes of the element: its name and its value.
    @_lifetime(copy view)
    private static func content(_ element: BSONElement, of view: BSONView) -> RawSpan {
        view.bytes.extracting(element.nameOffset..<element.valueOffset + element.valueLength)
    }

    /// Returns the `_id` of the last document that was read; `nil` before the first one.
    func value() throws(BSONError) -> BSONValue? {
        guard !bytes.isEmpty else { return nil }
        let length = UInt32(bytes.count + 5)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * UInt32($0))) }
        return try BSONDocument(bytes: header + bytes + [0])["_id"]
    }

    /// Returns whether a document was read since the previous call of this function.
    mutating func advance() -> Bool {
        defer { marked = bytes }
        return marked != bytes
    }

    private static func id(of view: borrowing BSONView) throws(BSONError) -> BSONElement? {
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if view.nameBytes(element).isEqual(to: "_id") { return element }
        }
        return nil
    }
}
