package import BSON
import Glibc
package import Mongo

/// Reads a range of a collection in the order of `_id`, and goes on after a lost cursor where it was.
package struct RangeReader {
    let collection: MongoCollection
    let range: IDRange
    /// Whether the namespace is a view, which has no index to walk: a lost cursor is then an error.
    let isView: Bool
    /// How long after the first failure without a document in between it still tries.
    let patience: Duration

    /// Reads `range` of `collection`.
    package init(
        _ collection: MongoCollection, range: IDRange, isView: Bool = false, patience: Duration = .seconds(60)
    ) {
        self.collection = collection
        self.range = range
        self.isView = isView
        self.patience = patience
    }

    /// Lends every document of the range to `body`, once each.
    /// - Parameter body: gives `false` to stop.
    /// - Throws: ``MongoError`` when the deployment stays unreachable, ``BSONError`` for a damaged document, and what
    ///   `body` throws.
    package func read(_ body: (borrowing BSONView) throws -> Bool) throws {
        var last = LastID()
        var failedAt: ContinuousClock.Instant?
        while true {
            do {
                try read(after: &last, body)
                return try readMaxKey(after: last, body)
            } catch let error as MongoError where error.isCursorLost && !isView {
                if last.advance() { failedAt = nil }
                let start = failedAt ?? .now
                failedAt = start
                guard start.duration(to: .now) < patience else { throw error }
                sleep(1)
            }
        }
    }

    private func read(after last: inout LastID, _ body: (borrowing BSONView) throws -> Bool) throws {
        let resumed = try last.value()
        var options = BSONBuilder()
        for (name, value) in try Self.options.elements() { options.append(name, value) }
        if !isView { options.append("hint", ["_id": 1]) }
        if let lower = resumed ?? range.lower { options.append("min", ["_id": lower]) }
        if let upper = range.upper { options.append("max", ["_id": upper]) }
        var cursor = collection.find(options: options.finish())
        var mayRepeat = resumed != nil
        while let view = try cursor.next() {
            if mayRepeat {
                mayRepeat = false
                if try last.isID(of: view) { continue }
            }
            try last.remember(view)
            guard try body(view) else { return }
        }
    }

    /// Index bounds with `min` alone leave out an `_id` of MaxKey: those of an open range, and of one that was resumed.
    private func readMaxKey(after last: LastID, _ body: (borrowing BSONView) throws -> Bool) throws {
        guard range.upper == nil, !isView, try last.value() != .maxKey else { return }
        var cursor = collection.find(["_id": ["$eq": .maxKey]], options: Self.options)
        if let view = try cursor.next() { _ = try body(view) }
    }

    private static let options: BSONDocument = [
        "batchSize": 10_000, "comment": "shipshape check", "readConcern": ["level": "majority"],
    ]
}

/// The `_id` of the last document that was seen, kept without an allocation per document.
struct LastID {
    private var bytes: [UInt8] = []
    private var marked: [UInt8] = []

    /// Copies the document's `_id` element.
    mutating func remember(_ view: borrowing BSONView) throws(BSONError) {
        guard let element = try Self.id(of: view) else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(element.type.rawValue)
        unsafe Self.content(element, of: view).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    /// Whether the document is the one that was seen last; by bytes, because NaN is an `_id` too and equals nothing.
    func isID(of view: borrowing BSONView) throws(BSONError) -> Bool {
        guard let element = try Self.id(of: view), bytes.first == element.type.rawValue else { return false }
        return unsafe Self.content(element, of: view).withUnsafeBytes { unsafe bytes.dropFirst().elementsEqual($0) }
    }

    /// The element's name and value.
    @_lifetime(copy view)
    private static func content(_ element: BSONElement, of view: BSONView) -> RawSpan {
        view.bytes.extracting(element.nameOffset..<element.valueOffset + element.valueLength)
    }

    /// The `_id`; `nil` before the first document.
    func value() throws(BSONError) -> BSONValue? {
        guard !bytes.isEmpty else { return nil }
        let length = UInt32(bytes.count + 5)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * UInt32($0))) }
        return try BSONDocument(bytes: header + bytes + [0])["_id"]
    }

    /// Whether a document was seen since the last call.
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
