package import BSON
import Jobs

/// A group of documents with the same change.
///
/// The journal stores the change once, and the `_id` of each document.
package struct JournalGroup {
    /// The key of ``before`` in the journal.
    package static let before = "b"
    /// The key of ``added`` in the journal.
    package static let added = "n"
    /// The key of ``places`` in the journal.
    package static let places = "p"
    /// The key of ``after`` in the journal.
    package static let after = "a"
    /// The key of ``paths`` in the journal.
    package static let paths = "q"
    /// The key of ``ids`` in the journal.
    package static let ids = "i"
    /// The key of ``evidence`` in the journal.
    package static let evidence = "e"

    /// The changed fields that the documents had before the write, with their values, sorted by the bytes of their
    /// names.
    package let before: BSONDocument
    /// The names of the changed fields that the documents lacked before the write, sorted by their bytes.
    package let added: [String]
    /// The positions that the fields of ``before`` had among all fields of the document; `nil` if the journal does not
    /// store them.
    package let places: [Int]?
    /// The digests of the changed fields after the write, in the order of ``names``.
    package let after: [JournalDigest]
    /// The paths that the write changed inside of changed fields that were objects before and after it, by the names of
    /// these fields, each with the digest of its value after the write.
    package let paths: [String: [(path: [String], after: JournalDigest)]]
    /// The fields of the group that do not depend on its documents, as the journal stores them.
    private let head: BSONDocument
    /// The `_id`s of the group's documents.
    package let ids: [BSONValue]
    /// The digests by which undo recognizes that a document was replaced, in the order of ``ids`` and without
    /// separators; see ``DocumentEvidence``.
    ///
    /// The array is empty if the journal has no such digests.
    let evidence: [UInt8]
    /// The names of all changed fields, sorted by their bytes.
    package let names: [String]

    /// Reads a group of the journal; `nil` if a required field is missing or has a wrong type.
    /// - Throws: ``BSONError`` when the journal is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let before = document[Self.before]?.document, let ids = document[Self.ids]?.document,
            case .binary(_, let digests)? = document[Self.after]
        else { return nil }
        self.before = before
        self.ids = ids.values
        if case .binary(_, let bytes)? = document[Self.evidence] { evidence = bytes } else { evidence = [] }
        added = document[Self.added]?.document?.values.compactMap(\.text) ?? []
        places = document[Self.places]?.document?.values.compactMap(\.integer)
        names = (try before.elements().map(\.name) + added).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        after = JournalDigest.all(in: digests)
        guard after.count == names.count else { return nil }
        var paths: [String: [(path: [String], after: JournalDigest)]] = [:]
        for value in document[Self.paths]?.document?.values ?? [] {
            let path = value.document?["p"]?.document?.values.compactMap(\.text) ?? []
            guard let name = path.first, path.count > 1, let digest = JournalDigest(value.document?["a"]) else {
                return nil
            }
            paths[name, default: []].append((path, digest))
        }
        self.paths = paths
        head = BSONDocument(
            try document.elements().filter { ![Self.ids, Self.evidence].contains($0.name) }.map { ($0.name, $0.value) })
    }

    /// Returns the group as the journal stores it, with only some of its documents.
    /// - Parameters:
    ///   - places: the indexes of these documents in ``ids``.
    ///   - width: the number of bytes that ``evidence`` has for each document.
    func stored(keeping places: [Int], evidenceWidth width: Int) -> BSONValue {
        var builder = BSONBuilder(continuing: head)
        builder.append(Self.ids, .array(of: places.map { ids[$0] }))
        if !evidence.isEmpty {
            let kept = places.flatMap { evidence[$0 * width..<($0 + 1) * width] }
            builder.append(Self.evidence, .binary(subtype: 0, bytes: kept))
        }
        return .object(builder.finish())
    }

    /// The state of the fields of a document that the job changed.
    package enum Comparison: Hashable {
        /// All fields have the values from before the job's change.
        case asBefore
        /// All values that the job wrote are still there.
        case asWritten
        /// A value that the job wrote has changed.
        case changed
    }

    /// Compares a document with the values that the job wrote.
    ///
    /// A field that was an object before and after the job's write is compared only at the paths that the write changed.
    package func compare(_ document: BSONDocument) throws(BSONError) -> Comparison {
        let (now, was) = (document.view, before.view)
        var (isBefore, isWritten) = (true, true)
        for (index, name) in names.enumerated() {
            let element = try now.find(name)
            if isBefore, ChunkJournal.differs(try was.find(name), of: was, element, of: now) { isBefore = false }
            guard isWritten else { continue }
            isWritten = JournalDigest(of: element, in: now) == after[index]
            if !isWritten { isWritten = try isWrittenAtPaths(of: name, element, in: now) }
        }
        return isBefore ? .asBefore : isWritten ? .asWritten : .changed
    }

    private func isWrittenAtPaths(
        of name: String, _ element: BSONElement?, in document: borrowing BSONView
    ) throws(BSONError) -> Bool {
        guard let paths = paths[name], let element, element.type == .object else { return false }
        for (path, digest) in paths {
            guard try JournalDigest(at: path.dropFirst(), in: document.document(element)) == digest else {
                return false
            }
        }
        return true
    }

    /// Returns the document `current` with the changed fields as they were before the write.
    ///
    /// Names are compared, and values copied, by their bytes, so text that is not UTF-8 stays unchanged. If ``places``
    /// is not `nil`, each restored field gets the position that it had among all fields, and the other fields keep
    /// their order.
    package func restored(_ current: BSONDocument) throws(BSONError) -> BSONDocument {
        let (now, was) = (current.view, before.view)
        var builder = BSONBuilder()
        var others: [BSONElement] = []
        var put: Set<Int> = []
        var position = now.firstPosition
        while let element = try now.next(&position) {
            guard let name = names.firstIndex(where: now.nameBytes(element)) else {
                if places == nil { builder.append(element, of: now) } else { others.append(element) }
                continue
            }
            guard places == nil, put.insert(name).inserted, let old = try was.find(names[name]) else { continue }
            if let joined = try joined(name, element, of: now, with: old, of: was) {
                builder.append(names[name], .object(joined))
            } else {
                builder.append(old, of: was)
            }
        }
        guard let places else {
            position = was.firstPosition
            while let old = try was.next(&position) {
                if let name = names.firstIndex(where: was.nameBytes(old)), !put.contains(name) {
                    builder.append(old, of: was)
                }
            }
            return builder.finish()
        }
        var olds: [BSONElement] = []
        position = was.firstPosition
        while let old = try was.next(&position) { olds.append(old) }
        var order = others.map { (element: $0, isOld: false) }
        for (old, place) in zip(olds, places).sorted(by: { $0.1 < $1.1 }) {
            order.insert((old, true), at: min(max(place, 0), order.count))
        }
        for (element, isOld) in order {
            if isOld { builder.append(element, of: was) } else { builder.append(element, of: now) }
        }
        return builder.finish()
    }

    /// Returns the object `now` with the values from before the job's write at the paths that the write changed; `nil` if
    /// the field as a whole is still as the job left it, so that its old value replaces it.
    private func joined(
        _ index: Int, _ now: BSONElement, of current: borrowing BSONView, with old: BSONElement,
        of before: borrowing BSONView
    ) throws(BSONError) -> BSONDocument? {
        guard let paths = paths[names[index]], now.type == .object, old.type == .object,
            JournalDigest(of: now, in: current) != after[index]
        else { return nil }
        return try BSONDocument.joining(
            current.document(now), before.document(old), at: paths.map { $0.path.dropFirst() })
    }

    /// Returns the fields of a document that the group's change affects, with their current values.
    ///
    /// The fields are sorted by the bytes of their names, so the result can be compared with ``before``.
    package func fields(of document: BSONDocument) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        let view = document.view
        for name in names {
            if let element = try view.find(name) { builder.append(element, of: view) }
        }
        return builder.finish()
    }
}

extension [String] {
    /// Returns the index of the name that has these bytes; `nil` if none has.
    fileprivate func firstIndex(where bytes: RawSpan) -> Int? {
        for (index, name) in enumerated() where bytes.isEqual(to: name) { return index }
        return nil
    }
}

/// One document of the collection `journal`, which holds the changes of a chunk.
///
/// If a chunk does not fit into one document, each of its documents holds a part of it.
package struct JournalPart {
    /// The entry of one changed document in the journal.
    package struct Entry {
        /// The document's `_id`.
        package let id: BSONValue
        /// The index in ``JournalPart/groups`` of the group to which the document belongs.
        package let group: Int
        /// The digests of fields that the job does not write; `nil` if the journal has none.
        ///
        /// Undo compares them to find out whether another client has replaced the document; see ``DocumentEvidence``.
        package let evidence: ArraySlice<UInt8>?

        /// Creates an entry from its parts.
        package init(id: BSONValue, group: Int, evidence: ArraySlice<UInt8>? = nil, place: Int = 0) {
            (self.id, self.group, self.evidence, self.place) = (id, group, evidence, place)
        }

        /// The index of the document in ``JournalGroup/ids``.
        let place: Int
    }

    /// The position of the journal document.
    package let position: JournalPosition
    /// The number of the pass over the collection in which the attempt was made.
    package let pass: Int
    /// The index of the job's phase to which the attempt belongs.
    package let phase: Int
    /// The number of chunks that were done before the attempt's documents were read.
    ///
    /// If one read supplies the documents of several chunks, these chunks have the same number.
    package let chunk: BSONValue
    /// The names of the top-level fields that the phase's steps may write or remove.
    package let touched: [String]
    /// The groups of documents; the job changed all documents of a group in the same way.
    package let groups: [JournalGroup]
    /// The fields that distinguish a document from a later one with the same `_id`.
    package let evidence: DocumentEvidence
    /// The entries of all documents, sorted by group, and within a group in the order of ``JournalGroup/ids``.
    package let entries: [Entry]

    /// Reads a document of the journal; `nil` if a required field is missing or has a wrong type.
    /// - Throws: ``BSONError`` when the document is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let key = document["_id"]?.document, let sequence = key["seq"]?.integer, let part = key["part"]?.integer,
            let pass = document["pass"]?.integer, let phase = document["phase"]?.integer,
            let chunk = document["chunk"]?.document, let groups = document["groups"]?.document
        else { return nil }
        position = JournalPosition(sequence: Int64(sequence), part: part)
        self.pass = pass
        self.phase = phase
        self.chunk = chunk["number"] ?? .null
        touched = document["touched"]?.document?.values.compactMap(\.text) ?? []
        var read: [JournalGroup] = []
        for value in groups.values {
            guard let group = try value.document.flatMap({ (document) throws(BSONError) in try JournalGroup(document) })
            else { return nil }
            read.append(group)
        }
        self.groups = read
        let evidence = DocumentEvidence((document["evidence"]?.document?.values ?? []).compactMap(\.text))
        self.evidence = evidence
        entries = self.groups.enumerated().flatMap { index, group in
            group.ids.enumerated().map { place, id in
                Entry(id: id, group: index, evidence: evidence.part(place, of: group.evidence), place: place)
            }
        }
    }

    /// Returns what is left of the part, as the journal stores it, without some of its ``entries``.
    /// - Parameter done: the indexes of the entries that were undone.
    package func rest(without done: Set<Int>) -> BSONValue {
        var kept: [Int: [Int]] = [:]
        for (index, entry) in entries.enumerated() where !done.contains(index) {
            kept[entry.group, default: []].append(entry.place)
        }
        return .array(
            of: kept.sorted { $0.key < $1.key }.map {
                groups[$0.key].stored(keeping: $0.value, evidenceWidth: evidence.names.count * DocumentEvidence.width)
            })
    }
}

/// A digest of a value, 16 bytes long: the beginning of the SHA-256 of the value's type and bytes.
///
/// The digest of a missing field is 0.
package struct JournalDigest: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// The number of bytes of a digest.
    static let width = 16

    /// Creates the digest of a whole document.
    package init(of document: BSONDocument) { self.init(SHA256.digest(of: document.bytes)) }

    /// Creates the digest of a field; `element` is `nil` for a missing field.
    package init(of element: BSONElement?, in document: borrowing BSONView) {
        guard let element else {
            self.init(missing: ())
            return
        }
        let value = document.valueBytes(element)
        var bytes = [UInt8]()
        bytes.reserveCapacity(value.byteCount + 1)
        bytes.append(element.type.rawValue)
        unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        self.init(SHA256.digest(of: bytes))
    }

    /// Creates the digest of the value at a path through objects.
    package init(at path: ArraySlice<String>, in document: borrowing BSONView) throws(BSONError) {
        guard let name = path.first, let element = try document.find(name) else {
            self.init(missing: ())
            return
        }
        if path.count == 1 {
            self.init(of: element, in: document)
        } else if element.type == .object {
            try self.init(at: path.dropFirst(), in: document.document(element))
        } else {
            self.init(missing: ())
        }
    }

    private init(missing: Void) { (high, low) = (0, 0) }

    private init(_ digest: [UInt8]) { self.init(digest[...]) }

    private init(_ digest: ArraySlice<UInt8>) {
        func word(_ start: Int) -> UInt64 {
            digest.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        (high, low) = (word(0), word(8))
    }

    /// The bytes of the digest.
    var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    /// The digest as the binary value that is stored.
    var bson: BSONValue { .binary(subtype: 0, bytes: bytes) }

    /// Reads a stored digest; `nil` for any other value.
    package init?(_ value: BSONValue?) {
        guard case .binary(_, let bytes)? = value, bytes.count == Self.width else { return nil }
        self.init(bytes)
    }

    /// Reads digests that are stored one after another.
    static func all(in bytes: [UInt8]) -> [JournalDigest] {
        stride(from: 0, to: bytes.count - bytes.count % width, by: width).map {
            JournalDigest(bytes[$0..<$0 + width])
        }
    }
}

/// A position in the journal; undo reads the journal from the newest document to the oldest.
package struct JournalPosition: Hashable, Sendable {
    /// The number of the chunk.
    package var sequence: Int64
    /// The index of the journal document among the journal documents of the chunk.
    package var part: Int

    /// Creates a position from its parts.
    package init(sequence: Int64, part: Int) { (self.sequence, self.part) = (sequence, part) }
}
