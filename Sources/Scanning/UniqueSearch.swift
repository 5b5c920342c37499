import BSON
import Checking
import Concurrency
import ServerSchema
import SystemPackage

/// Counts the documents that unique indexes refuse, from the logs of the threads of a scan.
struct UniqueSearch: Sendable {
    var logs: [UniqueLog]
    /// The documents that changed during the scan; their records count only in ``settled``.
    var changed: ChangedIDs?
    /// The logs of documents as they are after the scan.
    var settled: [UniqueLog] = []
    let options: ScanOptions

    /// What one thread counts.
    private struct Share: Sendable {
        var tally: Tally
        /// The faults of documents that may have several, which are brought together before a document is counted.
        let faults: KeyLog?
        /// The documents that have the same note, and are counted together.
        private var alike: [(note: UInt32, documents: Int, first: FirstIDs)] = []

        init(_ tally: Tally, faults: KeyLog?) { (self.tally, self.faults) = (tally, faults) }

        mutating func count(_ note: UInt32, _ id: BSONElement, _ document: borrowing BSONView) throws {
            if let faults {
                guard let own = try DocumentKey(of: document) else { return }
                return faults.insert(KeyHash(high: own.hash, low: 0), note: note, id, of: document)
            }
            let place = alike.firstIndex { $0.note == note } ?? alike.count
            if place == alike.count { alike.append((note, 0, FirstIDs(atMost: tally.options.sampleCount))) }
            alike[place].documents += 1
            alike[place].first.keep(try document.value(id))
            // A listener receives every document.
            if tally.onFailure != nil { flush() }
        }

        /// Adds to the tally what was counted since the last call.
        mutating func flush() {
            for found in alike {
                let note = UniqueLog.Note(bits: found.note)
                tally.count([(note.key, note.fault)], documents: found.documents, found.first.ids, note.counted)
            }
            alike = []
        }
    }

    /// Adds the findings to the tally that has counted the documents.
    /// - Throws: ``TemporaryFileError``, or ``BSONError`` for a damaged record.
    func count(in tally: inout Tally) throws {
        let logs = logs + settled
        guard !logs.isEmpty else { return }
        do {
            let (schema, isRepeated) = (tally.schema, logs.contains(where: \.isRepeated))
            var shares = try onThreads { parts in
                let faults = isRepeated ? KeyLog(folder: options.temporaryFolder) : nil
                var share = Share(options.makeTally(schema), faults: faults)
                try countGroups(of: logs, parts, in: &share)
                return share
            }
            for log in logs.flatMap({ [$0.refused, $0.recounted] }) {
                try log.read(0) { _, bits, document in
                    guard try isValid(document, log), let id = try document.find("_id") else { return }
                    try shares[0].count(bits, id, document)
                }
            }
            for index in shares.indices {
                shares[index].flush()
                tally.merge(shares[index].tally)
            }
            guard isRepeated else { return }
            let faults = shares.compactMap(\.faults)
            let rest = try onThreads { parts in
                var tally = options.makeTally(schema)
                for part in parts { try Self.count(faults, part, in: &tally) }
                return tally
            }
            for other in rest { tally.merge(other) }
        } catch let error as Errno {
            throw TemporaryFileError("\(error)")
        }
    }

    /// Calls `body` on several threads, each time with other parts of the logs.
    private func onThreads<R: Sendable>(_ body: @Sendable @escaping (StrideTo<Int>) throws -> R) throws -> [R] {
        @Sendable func share(_ number: Int) throws -> R {
            try body(stride(from: number, to: KeyLog.partCount, by: options.threads))
        }
        let others = (1..<max(1, options.threads)).map { number in
            BackgroundTask(name: "unique-\(number)") { try share(number) }
        }
        let own = Result { try share(0) }
        let all = [own] + others.map { $0.end() }
        return try all.map { try $0.get() }
    }

    private func isValid(_ document: borrowing BSONView, _ log: KeyLog) throws -> Bool {
        guard let changed, changed.count > 0, !settled.contains(where: { $0.keys === log || $0.refused === log }) else {
            return true
        }
        return try DocumentKey(of: document).map { changed[$0] == nil } ?? true
    }

    private func countGroups(of logs: [UniqueLog], _ parts: StrideTo<Int>, in share: inout Share) throws {
        var shared = SharedKeys(logs: logs.map(\.keys))
        shared.isValid = { try isValid($0, $1) }
        for part in parts {
            try shared.find(in: part) { groups in try Self.count(groups, in: &share) }
        }
    }

    /// Counts the documents of the groups, and then the groups of each index.
    ///
    /// The `_id`s of a group are read only if the report shows the group, or if the documents are few.
    private static func count(_ groups: SharedKeys.Groups, in share: inout Share) throws {
        typealias Group = (documents: Int, first: BSONValue?, note: UniqueLog.Note)
        var found = [Group](repeating: (0, nil, UniqueLog.Note(bits: 0)), count: groups.count)
        try groups.read { number, bits, document in
            guard let element = try document.find("_id") else { return }
            try share.count(bits, element, document)
            let id = try document.value(element)
            found[number].documents += 1
            found[number].note = UniqueLog.Note(bits: bits)
            guard id.isSmall, found[number].first.map({ BSONOrder.precedes(id, $0) }) ?? true else { return }
            found[number].first = id
        }
        var kinds: [UniqueLog.Note] = []
        for group in found where !kinds.contains(where: { $0.kind == group.note.kind }) { kinds.append(group.note) }
        for note in kinds {
            var keys = share.tally[equalKeys: note.fault, of: note.key]
            let own = found.indices.filter { found[$0].note.kind == note.kind }
            let documents = own.reduce(0) { $0 + found[$1].documents }
            let isFew = keys.isWhole && documents - own.count <= EqualKeys.mostOlder
            var details: [Int: (group: EqualKeys.Group, ids: [BSONValue])] = [:]
            for number in own {
                let (documents, first, _) = found[number]
                guard isFew || keys.isShown(documents: documents, first: first) else { continue }
                details[number] = (EqualKeys.Group(documents: documents), [])
            }
            if !details.isEmpty {
                try groups.read { number, _, document in
                    guard details[number] != nil, let id = try document.find("_id") else { return }
                    let own = try document.value(id)
                    details[number]?.group.first.keep(own)
                    if isFew { details[number]?.ids.append(own) }
                    guard let value = try document.find("v"), details[number]?.group.ids.first == own else { return }
                    details[number]?.group.value = try document.value(value)
                }
            }
            keys.add(values: own.count, details.values.map(\.group), ids: isFew ? details.values.map(\.ids) : nil)
            share.tally[equalKeys: note.fault, of: note.key] = keys
        }
    }

    /// Counts the documents whose faults are in one part of the logs.
    private static func count(_ logs: [KeyLog], _ part: Int, in tally: inout Tally) throws {
        var documents: [KeyHash: (id: BSONValue, notes: Set<UInt32>)] = [:]
        for log in logs {
            try log.read(part) { hash, bits, document in
                guard let id = try document.find("_id") else { return }
                if documents[hash] == nil { documents[hash] = (try document.value(id), []) }
                documents[hash]?.notes.insert(bits)
            }
        }
        for (id, bits) in documents.values {
            let notes = bits.sorted().map(UniqueLog.Note.init)
            let faults = notes.filter { !$0.isAgain }.map { ($0.key, $0.fault) }
            guard !faults.isEmpty else { continue }
            tally.count(faults, documents: 1, [id], (notes.first(where: \.isAgain) ?? notes[0]).counted)
        }
    }
}
