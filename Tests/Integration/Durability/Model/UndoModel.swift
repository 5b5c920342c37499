import BSON

/// The documents of a collection as clients, a job and the job's undo must leave them, computed from change events.
///
/// The model knows the job's steps. It uses neither the program's evaluator nor the journal.
struct UndoModel: Sendable {
    /// The field in which each write of a client stores another value, and which the job never writes.
    static let mark = "w"
    /// The field by which the model recognizes a document that a client inserted again or replaced.
    static let instance = "made"

    /// A difference between the program's writes and the model.
    enum Violation: String, CaseIterable {
        case run = "a run wrote a document that its steps do not make"
        case need = "the last run left a document that needs the job"
        case undo = "an undo wrote a document that was not there before the job"
        case rest = "the last undo left a change of the job that no client has changed"
        case events = "the change events do not lead to the documents"
    }

    /// A value that the job replaced.
    private struct Change: Sendable {
        var path: FieldPath
        var before: BSONValue?
        var after: BSONValue?

        /// Whether the document still has the value that the job wrote.
        func holds(in document: BSONDocument) -> Bool { document.value(at: path)?.bytes == after?.bytes }
    }

    /// One write of the job to a document.
    private struct Write: Sendable {
        var changes: [Change]
        /// The document before the write.
        var original: BSONDocument
    }

    private struct Known: Sendable {
        var document: BSONDocument
        /// The writes of the job that are not undone, the newest last.
        var writes: [Write] = []
        /// Whether a client has changed the document since the first of ``writes``.
        var isTouched = false
    }

    private let job: ModelJob
    private var known: [PropertyKey: Known]
    private var hasBegun = false
    private var isUndoing = false
    /// The number of events by which clients deleted a document.
    private(set) var deletions = 0
    /// The number of writes of the job's runs.
    private(set) var written = 0
    /// The number of writes of the job's undo.
    private(set) var restored = 0
    private var violations: [Violation: [String]] = [:]

    /// Starts with the documents before the job.
    init(_ job: ModelJob, over documents: [BSONDocument]) {
        self.job = job
        known = Dictionary(
            uniqueKeysWithValues: documents.map { (PropertyKey($0["_id"] ?? .null), Known(document: $0)) })
    }

    /// A line for each kind of violation that was found, with its number and an example.
    var report: [String] {
        Violation.allCases.compactMap { kind in
            violations[kind].map { "\($0.count) times: \(kind.rawValue), such as \($0.first ?? "")" }
        }
    }

    private mutating func note(_ kind: Violation, _ text: String) { violations[kind, default: []].append(text) }

    // MARK: Events

    /// Takes the next change event, and returns whether it was the last one.
    ///
    /// The inserts of documents with the `_id`s `start`, `undo` and `end` mark the parts of the test.
    mutating func take(_ event: BSONDocument) throws -> Bool {
        guard let id = event["documentKey"]?.document?["_id"], let kind = event["operationType"]?.text else {
            return false
        }
        if case .string(let name) = id {
            if kind == "insert" { try begin(name) }
            return name == "end"
        }
        guard hasBegun else { return false }
        let key = PropertyKey(id)
        guard kind != "delete" else {
            deletions += 1
            known[key] = nil
            return false
        }
        guard let after = event["fullDocument"]?.document?.withoutStaleFields else { throw UndoEventsError.noImages }
        guard kind != "insert", var one = known[key] else {
            known[key] = Known(document: after)
            return false
        }
        if !after.has(Self.instance, of: one.document) {
            one = Known(document: after)
        } else if !after.has(Self.mark, of: one.document) {
            (one.document, one.isTouched) = (after, true)
        } else if isUndoing {
            restore(&one, as: after)
        } else {
            try write(&one, as: after)
        }
        known[key] = one
        return false
    }

    private mutating func begin(_ part: String) throws {
        hasBegun = true
        guard part == "undo" else { return }
        isUndoing = true
        for one in known.values where try job.outcome(of: one.document)?.document != one.document {
            note(.need, one.document.json)
        }
    }

    /// Compares a write of the job with the result of the job's steps.
    private mutating func write(_ one: inout Known, as after: BSONDocument) throws {
        let before = one.document
        let expected = try job.outcome(of: before)?.document
        if after != expected {
            note(.run, "\(before.json) became \(after.json) instead of \(expected?.json ?? "nothing")")
        }
        if one.writes.isEmpty { one.isTouched = false }
        let changes = job.steps.map(\.target).map {
            Change(path: $0, before: before.value(at: $0), after: after.value(at: $0))
        }
        one.writes.append(
            Write(changes: changes.filter { $0.before?.bytes != $0.after?.bytes }, original: before))
        one.document = after
        written += 1
    }

    /// Compares a write of the undo with the documents that the undo of the newest writes can make.
    private mutating func restore(_ one: inout Known, as after: BSONDocument) {
        var (rest, kept, current) = (one.writes, [Write](), one.document)
        while let write = rest.popLast() {
            let left = Self.undo(write, in: &current)
            if !left.isEmpty { kept.insert(Write(changes: left, original: write.original), at: 0) }
            let isRestored = one.isTouched ? after.isMerely(current) : after == write.original
            guard isRestored else { continue }
            (one.document, one.writes) = (after, rest + kept)
            restored += 1
            return
        }
        note(.undo, "\(one.document.json) became \(after.json)")
        one.document = after
    }

    /// Undoes the changes of a write whose values are still in the document, each path by itself.
    /// - Returns: the other changes of the write.
    private static func undo(_ write: Write, in document: inout BSONDocument) -> [Change] {
        var left: [Change] = []
        for change in write.changes {
            let names = change.path.components
            let restored: BSONDocument? =
                if let before = change.before { try? document.setting(names, to: before) } else {
                    try? document.removing(names)
                }
            if change.holds(in: document), let restored { document = restored } else { left.append(change) }
        }
        return left
    }

    // MARK: The end

    /// Checks that the collection has the documents of the model, and that no change of the job is left that undo can
    /// undo.
    mutating func end(with documents: [BSONDocument]) {
        var found = Dictionary(uniqueKeysWithValues: documents.map { (PropertyKey($0["_id"] ?? .null), $0) })
        for (key, one) in known {
            let document = found.removeValue(forKey: key)
            if document != one.document {
                note(.events, "\(one.document.json), and there is \(document?.json ?? "nothing")")
            }
            var undone = one.document
            for write in one.writes.reversed() { _ = Self.undo(write, in: &undone) }
            if undone != one.document {
                note(.rest, "\(one.document.json) instead of \(undone.json)")
            }
        }
        for document in found.values { note(.events, "nothing, and there is \(document.json)") }
    }
}

extension BSONDocument {
    /// Whether both documents have the same value, byte for byte, in a top-level field.
    fileprivate func has(_ name: String, of other: BSONDocument) -> Bool { self[name]?.bytes == other[name]?.bytes }
}
