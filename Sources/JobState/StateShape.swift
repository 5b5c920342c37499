package import BSON
import Mongo

/// The types that the fields of the state documents must have.
///
/// A value of another type was not written by this program. If it counted as missing, a run could resume at a wrong
/// position, or an undo could change documents that the job never wrote.
struct StateShape {
    enum Kind {
        case number, text, flag, date, document, array, bytes, objectID
        /// A text, or a document in which all values are texts or such documents.
        case texts

        fileprivate func fits(_ value: BSONValue) -> Bool {
            switch (self, value) {
            case (.number, _): value.integer != nil
            case (.text, .string), (.flag, .bool), (.date, .date), (.document, .object), (.array, .array),
                (.bytes, .binary), (.objectID, .objectID), (.texts, .string):
                true
            case (.texts, .object(let document)):
                ((try? document.elements()) ?? []).allSatisfy { fits($0.value) }
            default: false
            }
        }

        fileprivate var name: String {
            switch self {
            case .number: "a whole number"
            case .text: "a text"
            case .flag: "true or false"
            case .date: "a date"
            case .document: "a document"
            case .array: "an array"
            case .bytes: "binary data"
            case .objectID: "an ObjectId"
            case .texts: "an object of texts"
            }
        }
    }

    /// The type that each field must have if it is present; `*` in a path means each member of an array.
    private let fields: [(path: [Substring], kind: Kind)]
    private let required: [[Substring]]
    /// How an operator repairs a damaged document, or continues without it.
    let remedy: String

    private init(_ fields: KeyValuePairs<String, Kind>, required: [String] = [], _ remedy: String) {
        self.fields = fields.map { ($0.key.split(separator: "."), $0.value) }
        self.required = required.map { $0.split(separator: ".") }
        self.remedy = remedy
    }

    /// Returns what is wrong with a document, as a clause for a message; `nil` when nothing is.
    func fault(of document: BSONDocument) -> String? {
        for path in required where Self.values(of: document, at: path[...]).isEmpty {
            return "the field \"\(path.joined(separator: "."))\" is missing"
        }
        for (path, kind) in fields {
            for value in Self.values(of: document, at: path[...]) where !kind.fits(value) {
                return "the field \"\(path.joined(separator: "."))\" is \(Self.article(value.type)), but must be "
                    + kind.name
            }
        }
        return nil
    }

    private static func article(_ type: BSONType) -> String {
        let name = "\(type)"
        return ("aeiou".contains(name.first ?? " ") ? "an " : "a ") + name
    }

    private static func values(of document: BSONDocument, at path: ArraySlice<Substring>) -> [BSONValue] {
        guard let first = path.first else { return [] }
        let members = first == "*" ? document.values : document[String(first)].map { [$0] } ?? []
        guard path.count > 1 else { return members }
        return members.flatMap { $0.document.map { values(of: $0, at: path.dropFirst()) } ?? [] }
    }
}

extension StateShape {
    /// The shapes of the documents in collections of the state database; documents of other collections are not
    /// checked.
    static let all: [String: StateShape] = [
        "jobs": jobs, "ranges": ranges, "journal": journal, "harm": reservations, "failed": failed,
        "leftalone": skipped,
        "migrations": migrations, "parts": parts, "enforced": enforced,
    ]

    private static let jobs = StateShape(
        [
            "version": .number, "ns": .text, "from": .text, "text": .text, "schemas": .array, "schemas.*": .document,
            "schemas.*.role": .text, "schemas.*.path": .text, "schemas.*.text": .text, "touched": .array,
            "touched.*": .text, "journal": .flag, "created": .date, "cleaned": .document,
            "log": .array, "bounds": .document,
            "log.*": .document, "control": .document, "control.paused": .document, "control.paused.by": .text,
            "control.paused.at": .date, "control.paused.note": .text, "control.limits": .texts,
            "control.deployed": .document, "control.deployed.by": .text, "control.deployed.at": .date,
            "control.deployed.verified": .flag,
        ],
        "correct the field, or restore the document from a backup; without the document the job counts as never "
            + "started: it changes only documents that still need it, and cannot undo its earlier changes")

    private static let parts = StateShape(
        ["bounds": .array, "documents": .number, "created": .date],
        "restore the document from a backup; without it the parts get new bounds, and a part that was started is "
            + "refused")

    private static let ranges = StateShape(
        [
            "version": .number, "seq": .number, "pass": .number, "chunks": .number, "modified": .number,
            "updates": .number, "walked": .number,
            "journaled": .number, "due": .number, "state": .text, "stopped": .text, "last": .document,
            "upper": .document, "active": .date, "updated": .date, "written": .date, "recent": .array,
            "recent.*": .document, "recent.*.at": .date, "recent.*.walked": .number, "bound": .text, "waiting": .array,
            "waiting.*": .document, "lease": .document,
            "lease.owner": .objectID, "lease.token": .number, "lease.start": .date, "lease.end": .date,
            "lease.host": .text, "lease.boot": .text, "lease.process": .number, "lease.processStart": .number,
            "lease.processNamespace": .text,
            "undo": .document, "undo.begun": .date, "undo.ended": .date, "undo.restored": .number,
            "undo.children": .number, "undo.removed": .number,
        ],
        "correct the field, or restore the document from a backup; or delete it and start the job over with --restart: "
            + "only documents that still need the job are changed")

    private static let journal = StateShape(
        [
            "_id.seq": .number, "_id.part": .number, "pass": .number, "phase": .number, "chunk": .document,
            "parts": .number, "count": .number, "touched": .array, "touched.*": .text, "evidence": .array,
            "evidence.*": .text, "groups": .array, "groups.*": .document, "groups.*.b": .document,
            "groups.*.n": .array, "groups.*.n.*": .text, "groups.*.p": .array, "groups.*.p.*": .number,
            "groups.*.a": .bytes, "groups.*.q": .array, "groups.*.q.*": .document, "groups.*.i": .array,
            "groups.*.e": .bytes, "created": .array, "created.*": .document, "created.*.ns": .text,
            "created.*.a": .bytes,
        ],
        "restore the document from a backup, or delete it: undo then reports what is missing, and undoes the rest")

    private static let reservations = StateShape(
        [
            "_id.job": .text, "_id.ns": .text, "seen": .flag, "stale": .flag, "at": .date, "repaired": .date,
        ], required: ["_id.id", "_id.ns", "seen", "at"],
        "restore the document from a backup; without it, no room is reserved for the document that it names")

    private static let failed = StateShape(
        ["_id.job": .text, "code": .number, "name": .text, "phase": .number, "at": .date],
        required: ["_id.id", "code"], "delete it: the next run reaches the document that it names anyway")

    private static let skipped = StateShape(
        ["_id.job": .text, "_id.ns": .text, "reason": .text, "code": .number], required: ["_id.id", "reason"],
        "delete it: undo then does not report the document that it names")

    private static let enforced = StateShape(
        [
            "version": .number, "validator": .bytes, "before": .document, "before.validator": .bytes,
            "before.level": .text, "before.action": .text, "step": .text, "done": .flag, "revision": .number,
            "by": .text, "at": .date, "until": .date, "holder": .document, "holder.owner": .objectID,
            "holder.host": .text, "holder.boot": .text, "holder.process": .number, "holder.processStart": .number,
            "holder.processNamespace": .text,
        ], required: ["validator", "before.validator", "step", "done", "revision"],
        "correct the field, or restore the document from a backup; without the document enforce starts again with the "
            + "current validator, and --abort has nothing to restore")

    private static let migrations = StateShape(
        ["file": .text, "digest": .text, "by": .text, "created": .date, "findings": .flag], required: ["digest"],
        "restore the document from a backup, or delete it: backfill FOLDER then runs that job again, which changes "
            + "only documents that still need it")
}

extension StoreClient {
    /// Refuses a document of the state database if a required field is missing, or a field has a wrong type.
    func check(_ document: BSONDocument, of collection: String) throws(RunError) {
        guard let fault = StateShape.all[collection]?.fault(of: document) else { return }
        throw damage(fault, of: document, in: collection)
    }

    /// Returns the error for a damaged document of the state database: what is wrong, where it is, and the remedy.
    func damage(_ fault: String, of document: BSONDocument, in collection: String) -> RunError {
        let id = document["_id"].flatMap { try? $0.extendedJSON(.relaxed) } ?? "(none)"
        let remedy = StateShape.all[collection].map { "; \($0.remedy)" } ?? ""
        return RunError(
            .checkpointUnreadable,
            "the state database \"\(database)\" is damaged: in its collection \"\(collection)\", in the document with "
                + "the _id \(id), \(fault)\(remedy)")
    }

    /// Returns the first document that matches, after a check of its fields' types; `nil` if none matches.
    package func firstChecked(
        _ collection: String, _ filter: BSONDocument, adding fields: BSONDocument? = nil,
        projecting projection: BSONDocument? = nil
    ) throws -> BSONDocument? {
        guard let document = try first(collection, filter, adding: fields, projecting: projection) else { return nil }
        try check(document, of: collection)
        return document
    }

    /// Returns all documents that match, after a check of their fields' types.
    package func allChecked(_ collection: String, _ filter: BSONDocument) throws -> [BSONDocument] {
        let documents = try all(collection, filter).documents()
        for document in documents { try check(document, of: collection) }
        return documents
    }
}
