package import BSON

/// The changes that a runner makes to its job's record in the collection `ranges`, as fields that ``RangeStore`` sets.
package enum RangeChange {
    /// The changes to the job's record that start a pass.
    /// - Parameter due: how many documents need the job; `nil` if they were not counted.
    package static func starting(pass: Int, due: Int?) -> BSONDocument {
        [
            "pass": .integer(pass), "phase": "$$REMOVE", "phases": "$$REMOVE",
            "upper": ["$literal": ["v": .maxKey]], "last": "$$REMOVE", "state": "running", "walked": 0,
            "due": due.map { .integer($0) } ?? "$$REMOVE", "active": "$$NOW", "recent": [["at": "$$NOW", "walked": 0]],
        ]
    }

    /// The changes that record a finished chunk, in the transaction of that chunk.
    ///
    /// The counts are added to those that the record has.
    /// - Parameter progress: the progress of the whole job before the chunk.
    package static func checkpoint(_ chunk: Progress.Chunk, after progress: Progress) -> BSONDocument {
        func adding(_ count: Int, to field: String) -> BSONValue {
            ["$add": [["$ifNull": [.string("$\(field)"), 0]], .integer(count)]]
        }
        let walked = adding(chunk.documents, to: "walked")
        return [
            "last": progress.isOpen ? chunk.last.map { ["$literal": ["v": $0]] } ?? "$$REMOVE" : "$$REMOVE",
            "pass": .integer(progress.pass), "chunks": adding(1, to: "chunks"),
            "modified": adding(chunk.modified, to: "modified"), "updates": adding(chunk.updates, to: "updates"),
            "journaled": adding(chunk.journaled, to: "journaled"), "written": "$$NOW",
            // A thread's record keeps the count of an earlier pass until its first chunk of the next one.
            "walked": ["$cond": [["$eq": ["$pass", .integer(progress.pass)]], walked, .integer(chunk.documents)]],
            "active": "$$NOW", "recent": recent(processed: progress.processed + chunk.documents),
            "bound": progress.bound.map { ["$literal": .string($0)] } ?? "$$REMOVE",
        ]
    }

    /// The changes to the job's record that end a pass; `isDone` states that the job has nothing left to do.
    package static func ending(isDone: Bool) -> BSONDocument {
        [
            "upper": "$$REMOVE", "last": "$$REMOVE", "walked": "$$REMOVE", "due": "$$REMOVE", "recent": "$$REMOVE",
            "active": "$$NOW",
            "state": isDone ? "done" : "running",
        ]
    }

    /// The changes that record the reasons why the runner waits; without a reason, they are the changes of
    /// ``continuing``.
    package static func waiting(for waitReasons: [WaitReason]) -> BSONDocument {
        guard !waitReasons.isEmpty else { return continuing }
        return ["waiting": ["$literal": .array(of: waitReasons.map { .object($0.document) })]]
    }

    /// The changes that record why the runner stops.
    package static func stopping(by reason: String) -> BSONDocument { ["stopped": ["$literal": .string(reason)]] }

    /// The changes with which a runner ends a wait: they remove the reasons for the wait, and restart the measurement
    /// of the speed.
    package static var continuing: BSONDocument { ["waiting": "$$REMOVE", "active": "$$NOW", "recent": fresh] }

    /// The changes to the job's record with which a runner takes a lease.
    static func taking(_ lease: BSONValue, for use: RangeStore.Use) -> BSONDocument {
        let state =
            switch use {
            case .backfill, .following: "running"
            case .undo: "undoing"
            case .cleanup, .rebinding: "$state"
            }
        let taken: BSONDocument = [
            "lease": lease, "state": .string(state), "stopped": "$$REMOVE", "waiting": "$$REMOVE", "active": "$$NOW",
            "recent": fresh, "bound": "$$REMOVE",
        ]
        guard use == .undo else { return taken }
        return taken.appending("undo", ["$ifNull": ["$undo", ["begun": "$$NOW"]]])
    }

    /// The changes to the job's record with which a runner releases a lease.
    static var releasing: BSONDocument {
        [
            "lease.end": ["$literal": .date(milliseconds: 0)], "waiting": "$$REMOVE",
            "state": ["$cond": [["$eq": ["$state", "running"]], "stopped", "$state"]],
        ]
    }

    /// The changes that record how many documents an undo has restored so far, with those of earlier undos.
    package static func undone(restored: Int) -> BSONDocument {
        ["undo.restored": .integer(restored), "active": "$$NOW"]
    }

    /// The changes that record the progress of an undo while it removes documents from other collections.
    /// - Parameters:
    ///   - sequence: the number of the job's attempt whose documents the undo processed last.
    ///   - count: the number of documents that the undo has removed so far.
    package static func childrenRemoved(to sequence: Int64, count: Int) -> BSONDocument {
        ["undo.children": .long(sequence), "undo.removed": .integer(count), "active": "$$NOW"]
    }

    /// The changes to the job's record that end an undo.
    package static var undoEnded: BSONDocument { ["undo.ended": "$$NOW", "state": "undone", "active": "$$NOW"] }
}

/// The marks from which ``JobStatus`` computes the speed of a run.
///
/// Each mark has a time and the number of documents that the pass had done at that time. The record holds the newest 20
/// marks, which are at least three seconds apart.
extension RangeChange {
    private static let marks = 20
    private static let millisecondsBetweenMarks = 3_000

    /// A list with a single mark for the speed: the current time and the number of documents that the pass has done.
    private static var fresh: BSONValue {
        [["at": "$$NOW", "walked": ["$ifNull": ["$walked", 0]]]]
    }

    private static func recent(processed: Int) -> BSONValue {
        let marks: BSONValue = ["$ifNull": ["$recent", []]]
        let newest: BSONValue = ["$arrayElemAt": ["$recent.at", -1]]
        let isDue: BSONValue = [
            "$lte": [newest, ["$subtract": ["$$NOW", .integer(millisecondsBetweenMarks)]]]
        ]
        let added: BSONValue = [
            "$slice": [
                ["$concatArrays": [marks, [["at": "$$NOW", "walked": .integer(processed)]]]], .integer(-Self.marks),
            ]
        ]
        return ["$cond": [isDue, added, marks]]
    }
}
