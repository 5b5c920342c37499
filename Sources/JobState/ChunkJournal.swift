package import BSON
package import Jobs

/// The journal of one chunk, which is collected before the chunk is written.
///
/// For each document, the journal holds the old values of the fields that the chunk changes, and a digest of their new
/// values.
///
/// Documents with the same change share one group. If a chunk adds the same constant to many documents, the journal
/// holds the digest once, and for each document only the `_id`.
package struct ChunkJournal: Sendable {
    /// The maximum size in bytes of the groups and `_id`s in one document of the collection `journal`.
    ///
    /// A changed document whose entry is larger has a journal document of its own.
    static let partSize = 8 << 20
    /// The size in bytes that the key of a change seldom exceeds.
    private static let usual = 96
    /// An upper bound of the bytes that an array element (a group or an `_id`) takes in addition to its value, for its
    /// type and its index.
    private static let overhead = 24

    /// The number of documents that the chunk changes.
    package private(set) var count = 0
    /// An upper bound of the size of all groups in bytes, which is about the space that the journal takes before
    /// compression.
    package private(set) var bytes = 0
    /// The groups, as one array for each document that will be written to the collection `journal`.
    var parts: [BSONValue] { open.groups.isEmpty ? closed : closed + [open.bson] }

    /// The documents that the job creates in other collections before the chunk is written, each as ``CreatedChild``
    /// stores it.
    package private(set) var created: [BSONValue] = []

    /// The names of the fields whose digests distinguish a document from a later one with the same `_id`.
    package let evidence: [String]
    private let touched: [String]
    /// The keys under which ``change(before:after:positions:)`` stores each field in ``touched``: its value before the
    /// write, its value after the write, and its position.
    private let keys: [(before: String, after: String, place: String)]
    private var closed: [BSONValue] = []
    private var open = Part()

    /// Creates an empty journal.
    /// - Parameter touched: the names of the fields that the chunk may change, sorted by their bytes.
    /// - Parameter evidence: the names of the fields of which a digest is stored with each `_id`.
    package init(touched: [String], evidence: [String] = []) {
        (self.touched, self.evidence) = (touched, evidence)
        keys = touched.indices.map { ("b\($0)", "a\($0)", "p\($0)") }
    }

    /// Adds a document that the job inserts into another collection: its collection, its `_id` and a digest of the
    /// whole document.
    package mutating func add(_ creation: ClientCreation) {
        created.append(CreatedChild(creation).bson)
    }

    /// Adds a document if the chunk changes one of the fields ``touched``.
    ///
    /// `before` and `after` hold at least the fields ``touched``, as they are before the write and will be after it.
    /// - Parameter positions: the positions of the fields ``touched`` among all fields of the document before the
    ///   write, −1 for a missing field; `nil` if the journal need not store positions.
    /// - Parameter evidence: the digests of the document's fields that ``evidence`` names; empty for none.
    /// - Returns: whether the document was added.
    @discardableResult
    package mutating func add(
        _ id: BSONValue, before: borrowing BSONView, after: borrowing BSONView, positions: [Int]? = nil,
        evidence: [UInt8] = []
    ) throws(BSONError) -> Bool {
        guard let change = try change(before: before, after: after, positions: positions) else { return false }
        var group = open.group(of: change)
        var head = group == nil ? try head(before: before, after: after, positions: positions) : nil
        let size =
            id.byteCount + evidence.count + Self.overhead + (head.map { $0.bytes.count + Self.overhead } ?? 0)
        if !open.groups.isEmpty, open.size + size > Self.partSize {
            closed.append(open.bson)
            open = Part()
            group = nil
            if head == nil { head = try self.head(before: before, after: after, positions: positions) }
        }
        open.append(id, to: group ?? open.add(head ?? [:], of: change), size: size, evidence: evidence)
        count += 1
        bytes += size
        return true
    }

    /// Returns the key that identifies a document's group: the changed fields before and after the write, and their
    /// positions if given; `nil` if no touched field changes.
    ///
    /// For a document of an existing group, the key is enough. ``head(before:after:positions:)``, which computes a
    /// digest, is called only for the first document of a group.
    private func change(
        before: borrowing BSONView, after: borrowing BSONView, positions: [Int]?
    ) throws(BSONError) -> BSONDocument? {
        var change = BSONBuilder(capacity: Self.usual)
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

    /// Returns the fields by which the journal stores a group's change: the values before the write, and digests of the
    /// values after the write.
    ///
    /// The `_id`s and the evidence of the group's documents are not included.
    private func head(
        before: borrowing BSONView, after: borrowing BSONView, positions: [Int]?
    ) throws(BSONError) -> BSONDocument {
        var old = BSONBuilder()
        var digests: [JournalDigest] = []
        var paths: [(path: [String], after: JournalDigest)] = []
        var added: [String] = []
        var places: [Int] = []
        for (index, name) in touched.enumerated() {
            let (was, willBe) = (try before.find(name), try after.find(name))
            guard Self.differs(was, of: before, willBe, of: after) else { continue }
            if let was {
                old.append(was, of: before)
                if let positions { places.append(positions[index]) }
            } else {
                added.append(name)
            }
            digests.append(JournalDigest(of: willBe, in: after))
            guard let was, let willBe, was.type == .object, willBe.type == .object,
                let changed = try ChangedPaths(before.document(was), after.document(willBe), in: name)
            else { continue }
            paths += changed.all
        }
        return JournalGroup.head(before: old.finish(), added: added, places: places, after: digests, paths: paths)
    }

    /// The groups that one document of the collection `journal` will hold.
    private struct Part {
        struct Group {
            /// The fields that the journal stores once for the group.
            let head: BSONDocument
            var ids = BSONBuilder()
            var count = 0
            var evidence: [UInt8] = []
        }

        private(set) var groups: [Group] = []
        private var indexes: [BSONDocument: Int] = [:]
        private(set) var size = 0

        func group(of change: BSONDocument) -> Int? { indexes[change] }

        mutating func add(_ head: BSONDocument, of change: BSONDocument) -> Int {
            indexes[change] = groups.count
            groups.append(Group(head: head))
            return groups.count - 1
        }

        mutating func append(_ id: BSONValue, to index: Int, size: Int, evidence: [UInt8]) {
            groups[index].ids.append(index: groups[index].count, id)
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
    /// Returns the positions of the named fields among all fields of the document, from 0; −1 for a missing field.
    package func positions(of names: [String]) throws(BSONError) -> [Int] {
        let all = try elements().map(\.name)
        return names.map { all.firstIndex(of: $0) ?? -1 }
    }
}
