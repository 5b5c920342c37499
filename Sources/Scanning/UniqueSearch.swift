import BSON
import Checking
import ServerSchema
import SystemPackage

/// Counts the documents that unique indexes refuse, from the logs of the threads of a scan.
struct UniqueSearch {
    var logs: [UniqueLog]
    /// The documents that changed during the scan; their records count only in ``recheck``.
    var changed: ChangedIDs?
    /// The log of the changed documents as they are after the scan.
    var recheck: UniqueLog?
    let temporaryFolder: String?

    /// Adds the findings to the tally that has counted the documents.
    /// - Throws: ``TemporaryFileError``, or ``BSONError`` for a damaged record.
    func count(in tally: inout Tally) throws {
        do {
            try countFaults(in: &tally)
        } catch let error as Errno {
            throw TemporaryFileError("\(error)")
        }
    }

    private func isValid(_ document: borrowing BSONView, _ log: KeyLog) throws -> Bool {
        guard let changed, changed.count > 0, log !== recheck?.keys, log !== recheck?.refused else { return true }
        return try DocumentKey(of: document).map { changed[$0] == nil } ?? true
    }

    private func countFaults(in tally: inout Tally) throws {
        let logs = logs + [recheck].compactMap(\.self)
        guard !logs.isEmpty else { return }
        var result = tally
        // A document with several keys may have several faults, which are brought together before it is counted.
        let faults = logs.contains(where: \.isRepeated) ? KeyLog(folder: temporaryFolder) : nil
        func count(_ note: UniqueLog.Note, _ id: BSONElement, _ document: borrowing BSONView) throws {
            if let faults, let own = try DocumentKey(of: document) {
                faults.insert(KeyHash(high: own.hash, low: 0), note: note.bits, id, of: document)
            } else {
                result.count([(note.key, note.fault)], of: try document.value(id), counted: note.counted)
            }
        }
        let shared = SharedKeys(logs: logs.map(\.keys), isValid: isValid)
        for part in 0..<KeyLog.partCount {
            var groups: [KeyHash: (group: EqualKeys.Group, note: UniqueLog.Note)] = [:]
            try shared.read(part, of: try shared.groups(of: part)) { hash, bits, document in
                guard let id = try document.find("_id") else { return }
                let note = UniqueLog.Note(bits: bits)
                groups[hash, default: (EqualKeys.Group(), note)].group.add(try document.value(id))
                if let value = try document.find("v") { groups[hash]?.group.value = try document.value(value) }
                try count(note, id, document)
            }
            for (group, note) in groups.values { result.count(group, note.fault, of: note.key) }
        }
        for log in logs.flatMap({ [$0.refused, $0.recounted] }) {
            try log.read(0) { _, bits, document in
                guard try isValid(document, log), let id = try document.find("_id") else { return }
                try count(UniqueLog.Note(bits: bits), id, document)
            }
        }
        for part in 0..<KeyLog.partCount {
            var documents: [KeyHash: (id: BSONValue, notes: Set<UInt32>)] = [:]
            try faults?.read(part) { hash, bits, document in
                guard let id = try document.find("_id") else { return }
                if documents[hash] == nil { documents[hash] = (try document.value(id), []) }
                documents[hash]?.notes.insert(bits)
            }
            for (id, bits) in documents.values {
                let notes = bits.sorted().map(UniqueLog.Note.init)
                let faults = notes.filter { !$0.isAgain }.map { ($0.key, $0.fault) }
                guard !faults.isEmpty else { continue }
                result.count(faults, of: id, counted: (notes.first(where: \.isAgain) ?? notes[0]).counted)
            }
        }
        tally = result
    }
}
