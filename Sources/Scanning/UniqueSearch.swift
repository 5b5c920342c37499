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
        func note(_ note: UniqueLog.Note, _ id: BSONValue, _ document: borrowing BSONView) throws {
            if let faults {
                faults.insert(try KeyHash(of: document), note: note.bits, BSONDocument(copying: document).bytes)
            } else {
                result.count(
                    [(note.key, note.fault)], of: id, value: try document.value(named: "value"), counted: note.counted)
            }
        }
        let shared = SharedKeys(logs: logs.map(\.keys), isValid: isValid)
        for part in 0..<KeyLog.partCount {
            var groups: [KeyHash: (group: EqualKeys.Group, note: UniqueLog.Note)] = [:]
            try shared.read(part, of: try shared.groups(of: part)) { hash, bits, document in
                let (id, own) = (try document.value(named: "_id") ?? .undefined, UniqueLog.Note(bits: bits))
                groups[hash, default: (EqualKeys.Group(), own)].group.add(id)
                if let value = try document.value(named: "value") { groups[hash]?.group.value = value }
                try note(own, id, document)
            }
            for (group, note) in groups.values { result.count(group, note.fault, of: note.key) }
        }
        for log in logs.flatMap({ [$0.refused, $0.recounted] }) {
            try log.read(0) { _, bits, document in
                guard try isValid(document, log) else { return }
                try note(UniqueLog.Note(bits: bits), try document.value(named: "_id") ?? .undefined, document)
            }
        }
        for part in 0..<KeyLog.partCount {
            var documents: [KeyHash: (id: BSONValue, value: BSONValue?, notes: [UniqueLog.Note])] = [:]
            try faults?.read(part) { hash, bits, document in
                let note = UniqueLog.Note(bits: bits)
                if documents[hash] == nil {
                    documents[hash] = (
                        try document.value(named: "_id") ?? .undefined, try document.value(named: "value"), [note]
                    )
                } else if documents[hash]?.notes.contains(where: { $0.bits == bits }) == false {
                    documents[hash]?.notes.append(note)
                }
            }
            for (id, value, notes) in documents.values {
                let faults = notes.filter { !$0.isAgain }.sorted { $0.bits < $1.bits }.map { ($0.key, $0.fault) }
                guard !faults.isEmpty else { continue }
                let counted = (notes.first(where: \.isAgain) ?? notes[0]).counted
                result.count(faults, of: id, value: value, counted: counted)
            }
        }
        tally = result
    }
}

extension BSONView {
    /// Returns the value of a field; `nil` if there is none.
    fileprivate func value(named name: String) throws(BSONError) -> BSONValue? {
        guard let element = try find(name) else { return nil }
        return try value(element)
    }
}
