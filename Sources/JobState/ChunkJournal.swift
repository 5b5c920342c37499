package import BSON
package import Jobs

/// The journal of a chunk that is about to be written: for each document the touched fields as they are, and a digest
/// of the fields as they will be.
///
/// Documents with the same change share one group. For additions of one constant, the journal holds the digest once and
/// only the `_id` of each document.
package struct ChunkJournal {
    /// The most bytes of entries in one document of the journal, unless one entry alone has more.
    static let partSize = 8 << 20
    /// An upper bound of the bytes that a group or an `_id` takes besides its own: its name in the array.
    private static let overhead = 24

    /// The number of documents that the chunk changes.
    package private(set) var count = 0
    /// The bytes of all groups: about what the journal takes in the state database, before compression.
    package private(set) var bytes = 0
    /// The groups, one array for each document of the journal.
    var parts: [BSONValue] { open.groups.isEmpty ? closed : closed + [open.bson] }

    /// The documents that are created in other collections before the chunk is written.
    package private(set) var created: [BSONValue] = []

    /// The fields that distinguish a document from another one with the same `_id`.
    package let evidence: [String]
    private let touched: [String]
    /// The names that the parts of a change have for each of ``touched``.
    private let keys: [(before: String, after: String, place: String)]
    private var closed: [BSONValue] = []
    private var open = Part()

    /// - Parameter touched: the names of the touched fields, in the order of their bytes.
    /// - Parameter evidence: the names of the fields of which a digest is stored with each `_id`.
    package init(touched: [String], evidence: [String] = []) {
        (self.touched, self.evidence) = (touched, evidence)
        keys = touched.indices.map { ("b\($0)", "a\($0)", "p\($0)") }
    }

    /// Adds a document that is created in another collection, with a digest of the whole document.
    package mutating func add(_ creation: ClientCreation) {
        created.append(CreatedChild(creation).bson)
    }

    /// Adds a document, given with at least its touched fields, as they are and as they will be.
    /// - Parameter positions: the places of the touched fields among all fields of the document as it is, if the
    ///   journal has to keep them; −1 for a missing field.
    /// - Parameter id: the document's `_id`; `nil` if `before` contains it.
    /// - Returns: whether the document is journaled; a document whose touched fields do not change is not.
    @discardableResult
    package mutating func add(
        _ id: BSONValue? = nil, before old: BSONDocument, after new: BSONDocument, positions: [Int]? = nil,
        evidence: [UInt8] = []
    ) throws(BSONError) -> Bool {
        guard let id = id ?? old["_id"] else { return false }
        let (before, after) = (old.view, new.view)
        guard let change = try change(before: before, after: after, positions: positions) else { return false }
        var head = open.hasGroup(change) ? nil : try head(before: before, after: after, positions: positions)
        let size =
            id.byteCount + evidence.count + Self.overhead + (head.map { $0.bytes.count + Self.overhead } ?? 0)
        if !open.groups.isEmpty, open.size + size > Self.partSize {
            closed.append(open.bson)
            open = Part()
            if head == nil { head = try self.head(before: before, after: after, positions: positions) }
        }
        open.append(id, to: change, head: head, size: size, evidence: evidence)
        count += 1
        bytes += size
        return true
    }

    /// Returns the key of a document's group: its changed fields before and after; `nil` when no touched field changes.
    ///
    /// Most documents belong to an existing group, so the group's head with its digest is made only for the others.
    private func change(
        before: borrowing BSONView, after: borrowing BSONView, positions: [Int]?
    ) throws(BSONError) -> BSONDocument? {
        var change = BSONBuilder()
        var isEmpty = true
        for (index, name) in touched.enumerated() {
            let (was, willBe) = (try before.find(name), try after.find(name))
            guard Self.differs(was, of: before, willBe, of: after) else { continue }
            isEmpty = false
            if let was {
                change.append(keys[index].before, was, of: before)
                if let positions { change.append(keys[index].place, .integer(positions[index])) }
            }
            if let willBe { change.append(keys[index].after, willBe, of: after) }
        }
        return isEmpty ? nil : change.finish()
    }

    /// Whether a field differs in type or in bytes between two documents; `nil` means that the field is missing.
    package static func differs(
        _ was: BSONElement?, of before: borrowing BSONView, _ willBe: BSONElement?, of after: borrowing BSONView
    ) -> Bool {
        guard let was, let willBe else { return was != nil || willBe != nil }
        return was.type != willBe.type || !before.valueBytes(was).isEqual(to: after.valueBytes(willBe))
    }

    /// Returns the fields of a group except its `_id`s.
    private func head(
        before: borrowing BSONView, after: borrowing BSONView, positions: [Int]?
    ) throws(BSONError) -> BSONDocument {
        var (old, new) = (BSONBuilder(), BSONBuilder())
        var added: [BSONValue] = []
        var places: [BSONValue] = []
        for (index, name) in touched.enumerated() {
            let (was, willBe) = (try before.find(name), try after.find(name))
            guard Self.differs(was, of: before, willBe, of: after) else { continue }
            if let was {
                old.append(was, of: before)
                if let positions { places.append(.integer(positions[index])) }
            } else {
                added.append(.string(name))
            }
            if let willBe { new.append(willBe, of: after) }
        }
        var head = BSONBuilder()
        head.append(JournalGroup.before, .object(old.finish()))
        if !added.isEmpty { head.append(JournalGroup.added, .array(of: added)) }
        if !places.isEmpty { head.append(JournalGroup.places, .array(of: places)) }
        head.append(JournalGroup.after, JournalDigest(of: new.finish()).bson)
        return head.finish()
    }

    /// The groups of one document of the journal.
    private struct Part {
        /// The groups so far, each with its head, the `_id`s of its documents and their evidence.
        package private(set) var groups: [(head: BSONDocument, ids: BSONBuilder, count: Int, evidence: [UInt8])] = []
        private var indexes: [BSONDocument: Int] = [:]
        private(set) var size = 0

        func hasGroup(_ change: BSONDocument) -> Bool { indexes[change] != nil }

        /// - Parameter head: the head of a new group; ignored if the group exists.
        mutating func append(
            _ id: BSONValue, to change: BSONDocument, head: BSONDocument?, size: Int, evidence: [UInt8]
        ) {
            let index = indexes[change] ?? groups.count
            if index == groups.count {
                indexes[change] = index
                groups.append((head ?? [:], BSONBuilder(), 0, []))
            }
            groups[index].ids.append(String(groups[index].count), id)
            groups[index].count += 1
            groups[index].evidence += evidence
            self.size += size
        }

        var bson: BSONValue {
            .array(
                of: groups.map { group in
                    var builder = BSONBuilder(continuing: group.head)
                    builder.append(JournalGroup.ids, .array(group.ids.finish()))
                    if !group.evidence.isEmpty {
                        builder.append(JournalGroup.evidence, .binary(subtype: 0, bytes: group.evidence))
                    }
                    return .object(builder.finish())
                })
        }
    }
}

extension BSONDocument {
    /// Returns the places of these fields among all fields of the document; −1 for a missing field.
    package func positions(of names: [String]) throws(BSONError) -> [Int] {
        let all = try elements().map(\.name)
        return names.map { all.firstIndex(of: $0) ?? -1 }
    }
}
