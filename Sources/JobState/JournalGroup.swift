package import BSON

/// A group of documents with the same change.
///
/// The journal stores the change once, and the `_id` of each document.
package struct JournalGroup {
    package static let before = "b"
    package static let added = "n"
    package static let places = "p"
    package static let after = "a"
    package static let paths = "q"
    package static let ids = "i"
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
    package let ids: [BSONValue]
    /// The digests by which undo recognizes that a document was replaced, in the order of ``ids`` and without
    /// separators; see ``DocumentEvidence``.
    ///
    /// The array is empty if the journal has no such digests.
    let evidence: [UInt8]
    /// The names of all changed fields, sorted by their bytes.
    package let names: [String]

    private init(
        before: BSONDocument, added: [String], places: [Int]?, after: [JournalDigest],
        paths: [String: [(path: [String], after: JournalDigest)]], ids: [BSONValue], evidence: [UInt8]
    ) throws(BSONError) {
        (self.before, self.added, self.places, self.after) = (before, added, places, after)
        (self.paths, self.ids, self.evidence) = (paths, ids, evidence)
        names = (try before.elements().map(\.name) + added).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Reads a group of the journal; `nil` if a required field is missing or has a wrong type.
    /// - Throws: ``BSONError`` when the journal is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let before = document[Self.before]?.document, let ids = document[Self.ids]?.document,
            case .binary(_, let digests)? = document[Self.after]
        else { return nil }
        var paths: [String: [(path: [String], after: JournalDigest)]] = [:]
        for value in document[Self.paths]?.document?.values ?? [] {
            let path = value.document?["p"]?.document?.values.compactMap(\.text) ?? []
            guard let name = path.first, path.count > 1, let digest = JournalDigest(value.document?["a"]) else {
                return nil
            }
            paths[name, default: []].append((path, digest))
        }
        let evidence: [UInt8] = if case .binary(_, let bytes)? = document[Self.evidence] { bytes } else { [] }
        try self.init(
            before: before, added: document[Self.added]?.document?.values.compactMap(\.text) ?? [],
            places: document[Self.places]?.document?.values.compactMap(\.integer),
            after: JournalDigest.all(in: digests), paths: paths, ids: ids.values, evidence: evidence)
        guard after.count == names.count else { return nil }
    }

    /// Returns the fields by which the journal stores the change of a group, without its documents.
    static func head(
        before: BSONDocument, added: [String], places: [Int]?, after: [JournalDigest],
        paths: [(path: [String], after: JournalDigest)]
    ) -> BSONDocument {
        var head = BSONBuilder()
        head.append(Self.before, .object(before))
        if !added.isEmpty { head.append(Self.added, .array(of: added.map { .string($0) })) }
        if let places, !places.isEmpty { head.append(Self.places, .array(of: places.map { .integer($0) })) }
        head.append(Self.after, JournalDigest.bson(after))
        if !paths.isEmpty {
            head.append(
                Self.paths,
                .array(of: paths.map { ["p": .array(of: $0.path.map { .string($0) }), "a": $0.after.bson] }))
        }
        return head.finish()
    }

    /// Returns the group as the journal stores it, with only some of its documents.
    /// - Parameters:
    ///   - places: the indexes of these documents in ``ids``.
    ///   - width: the number of bytes that ``evidence`` has for each document.
    func stored(keeping places: [Int], evidenceWidth width: Int) -> BSONValue {
        let paths = names.flatMap { self.paths[$0] ?? [] }
        var builder = BSONBuilder(
            continuing: Self.head(before: before, added: added, places: self.places, after: after, paths: paths))
        builder.append(Self.ids, .array(of: places.map { ids[$0] }))
        if !evidence.isEmpty {
            let kept = places.flatMap { evidence[$0 * width..<($0 + 1) * width] }
            builder.append(Self.evidence, .binary(subtype: 0, bytes: kept))
        }
        return .object(builder.finish())
    }

    /// Returns the part of one document's change at some of its paths, as a group of that document.
    /// - Parameter paths: changed fields, and paths inside of changed fields that are in ``paths``.
    package func part(at paths: [[String]], of entry: JournalPart.Entry) throws(BSONError) -> JournalGroup {
        let tops = Set(paths.map { $0[0] })
        let whole = Set(paths.filter { $0.count == 1 }.map { $0[0] })
        let olds = try before.elements()
        return try JournalGroup(
            before: BSONDocument(olds.filter { tops.contains($0.name) }.map { ($0.name, $0.value) }),
            added: added.filter(tops.contains),
            places: places.map { zip(olds, $0).filter { tops.contains($0.0.name) }.map(\.1) },
            // Some paths of a field are its whole change no longer, so no value of the whole field is the written one.
            after: zip(names, after).filter { tops.contains($0.0) }.map { whole.contains($0.0) ? $0.1 : .impossible },
            paths: self.paths.filter { tops.contains($0.key) }.mapValues { all in
                all.filter { whole.contains($0.path[0]) || paths.contains($0.path) }
            },
            ids: [entry.id], evidence: entry.evidence.map { Array($0) } ?? [])
    }

    /// The state of the fields of a document that the job changed.
    package enum Comparison: Hashable {
        /// All fields have the values from before the job's change.
        case asBefore
        /// All values that the job wrote are still there.
        case asWritten
        /// Another client changed the values at the paths `others`; the values at the paths `written` are as the job
        /// wrote them. A path of one name means the whole field.
        case changed(others: [[String]], written: [[String]])
    }

    /// Compares a document with the values that the job wrote.
    ///
    /// A field that was an object before and after the job's write is compared only at the paths that the write
    /// changed.
    package func compare(_ document: BSONDocument) throws(BSONError) -> Comparison {
        let (now, was) = (document.view, before.view)
        var isWhole = true
        for (index, name) in names.enumerated() where isWhole {
            isWhole = JournalDigest(of: try now.find(name), in: now) == after[index]
        }
        guard !isWhole else { return .asWritten }
        var (others, written): ([[String]], [[String]]) = ([], [])
        var isWritten = true
        for (index, name) in names.enumerated() {
            let (element, old) = (try now.find(name), try was.find(name))
            if JournalDigest(of: element, in: now) == after[index] {
                written.append([name])
            } else if let paths = paths[name], let element, let old, element.type == .object, old.type == .object {
                let found = try Self.compare(paths, now.document(element), was.document(old))
                if !found.isWritten { isWritten = false }
                others += found.others
                written += found.isWritten ? [[name]] : found.written
            } else {
                isWritten = false
                if ChunkJournal.differs(old, of: was, element, of: now) { others.append([name]) }
            }
        }
        if isWritten { return .asWritten }
        return others.isEmpty && written.isEmpty ? .asBefore : .changed(others: others, written: written)
    }

    private static func compare(
        _ paths: [(path: [String], after: JournalDigest)], _ now: borrowing BSONView, _ was: borrowing BSONView
    ) throws(BSONError) -> (others: [[String]], written: [[String]], isWritten: Bool) {
        var (others, written): ([[String]], [[String]]) = ([], [])
        for (path, digest) in paths {
            // Without the object that holds the value, another client has removed it.
            let found = try JournalDigest(at: path.dropFirst(), in: now)
            if let found, found == digest {
                written.append(path)
                continue
            }
            let before = try JournalDigest(at: path.dropFirst(), in: was)
            if found == nil || found != before { others.append(path) }
        }
        return (others, written, written.count == paths.count)
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
        var joined: [Int: BSONDocument] = [:]
        var put: Set<Int> = []
        var position = now.firstPosition
        while let element = try now.next(&position) {
            guard let name = names.firstIndex(where: now.nameBytes(element)) else {
                if places == nil { builder.append(element, of: now) } else { others.append(element) }
                continue
            }
            guard put.insert(name).inserted, let old = try was.find(names[name]) else { continue }
            joined[name] = try self.joined(name, element, of: now, with: old, of: was)
            guard places == nil else { continue }
            if let value = joined[name] {
                builder.append(names[name], .object(value))
            } else {
                builder.append(old, of: was)
            }
        }
        var olds: [(name: Int, element: BSONElement)] = []
        position = was.firstPosition
        while let old = try was.next(&position) {
            if let name = names.firstIndex(where: was.nameBytes(old)) { olds.append((name, old)) }
        }
        guard let places else {
            for old in olds where !put.contains(old.name) { builder.append(old.element, of: was) }
            return builder.finish()
        }
        var order = others.map { (name: Int?.none, element: $0) }
        for (old, place) in zip(olds, places).sorted(by: { $0.1 < $1.1 }) {
            order.insert((old.name, old.element), at: min(max(place, 0), order.count))
        }
        for (name, element) in order {
            if let name, let value = joined[name] {
                builder.append(names[name], .object(value))
            } else {
                builder.append(element, of: name == nil ? now : was)
            }
        }
        return builder.finish()
    }

    /// Returns the object `now` with the values from before the job's write at the paths that the write changed; `nil`
    /// if the field as a whole is still as the job left it, so that its old value replaces it.
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
    fileprivate func firstIndex(where bytes: RawSpan) -> Int? {
        for (index, name) in enumerated() where bytes.isEqual(to: name) { return index }
        return nil
    }
}
