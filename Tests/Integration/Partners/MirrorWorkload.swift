import BSON
import Foundation
import Synchronization
import TestSupport
import Testing

/// A partner job, and clients that write to both of its collections while a mirror carries the changes over.
struct MirrorWorkload: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Returns the part of the job file that follows the names of the partner and of its collections.
    let job: @Sendable (PartnerCase) throws -> String
    /// Returns the `_id` of a document, by the document's number and its side: 0 is the original, and 1 the partner.
    let id: @Sendable (Int, Int) -> BSONValue
    /// Returns the update that sets a document's text, by the document's number, its side, and the new text.
    let update: @Sendable (Int, Int, String) -> BSONValue
    /// Returns the document with this number for the original collection.
    let original: @Sendable (Int) -> BSONDocument

    static let collections = ["Task", "TaskV2"]

    /// The job in the documentation; clients update one field of its documents.
    static let documented = MirrorWorkload(
        testDescription: "the documented example", job: { _ in PartnerCase.documented },
        id: { number, side in
            side == 0 ? .objectID(PartnerCase.id(number)) : .string("\(PartnerCase.id(number))")
        },
        update: { _, side, text in ["$set": [side == 0 ? "title" : "name": .string(text)]] },
        original: PartnerCase.task)

    /// A job with every kind of step; clients replace whole documents.
    static let everyStep = MirrorWorkload(
        testDescription: "every kind of step", job: PartnerStepTests.everyKind, id: { number, _ in .integer(number) },
        update: { number, side, text in
            if side == 0 {
                return .object(PartnerStepTests.original(number, title: text))
            }
            return [
                "_id": .integer(number), "sortTitle": .string(text), "name": .string(text), "priority": "3",
                "scores": ["1", "2"], "full": "Eve Lovelace", "label": ["m"], "box": .integer(number),
                "colours": ["green"], "notes": ["b"], "owner": 10, "parent": "key 2", "cents": 200, "status": "done",
            ]
        }, original: { PartnerStepTests.original($0) })

    /// Writes the job file, inserts the originals, and copies them with `partner init`.
    func begin(_ test: PartnerCase, count: Int) async throws -> ProgramRun {
        try test.job(job(test))
        try await test.database.fill("Key", count: 3) { ["_id": .integer($0), "to": .string("key \($0)")] }
        try await test.database.fill("Task", count: count, original)
        return try await test.run("init")
    }

    /// A record of the text that clients last wrote to each document, and of the numbers of writes.
    final class Model: Sendable {
        private struct State {
            var titles: [Int: String?] = [:]
            var stopped = false
            var writes = 0
            var relayed = 0
        }

        private let state = Mutex(State())
        /// The text that a client last wrote to each document, by the document's number; `nil` after a deletion.
        ///
        /// If clients of both sides write a document, one side may have a later text, which is not recorded here.
        var titles: [Int: String?] { state.withLock { $0.titles } }
        /// The number of writes of all clients.
        var writes: Int { state.withLock { $0.writes } }
        /// The number of changes by `relay` that a mirror has carried over.
        var relayed: Int { state.withLock { $0.relayed } }
        fileprivate func wasRelayed() { state.withLock { $0.relayed += 1 } }
        var isStopped: Bool { state.withLock { $0.stopped } }
        func stop() { state.withLock { $0.stopped = true } }
        fileprivate func wrote(_ number: Int, _ title: String?) {
            state.withLock { state in
                state.titles.updateValue(title, forKey: number)
                state.writes += 1
            }
        }
    }

    /// Whether clients of both sides write the document with this number.
    static func isShared(_ number: Int) -> Bool { number % 50 < 2 }

    /// The few values that clients write.
    ///
    /// A client's write therefore often has the same value as the mirror's, or restores an earlier value.
    static let texts = ["on", "off", "new"]

    /// Returns the name of the field that has a document's text on a side: 0 is the original, and 1 the partner.
    private static func field(_ side: Int) -> String { side == 0 ? "title" : "name" }

    /// Writes a document alternately on both sides; before each write, waits until a mirror has carried over the
    /// previous one.
    ///
    /// There is never more than one write to carry over, so each write must arrive, and none must become a conflict.
    func relay(_ number: Int, in test: PartnerCase, _ model: Model) async throws {
        var side = 0
        while !model.isStopped {
            let text = Int.random(in: 0..<4) == 0 ? nil : Self.texts.randomElement()
            if let text {
                try await set(number, side, text, in: test)
            } else {
                try await Self.surely {
                    try await test.database.delete(Self.collections[side], ["_id": id(number, side)])
                }
            }
            model.wrote(number, text)
            side = 1 - side
            while !model.isStopped, try await self.text(number, side, in: test) != text {
                try await Task.sleep(for: .milliseconds(20))
            }
            model.wasRelayed()
        }
    }

    private func text(_ number: Int, _ side: Int, in test: PartnerCase) async throws -> String? {
        var text: String?
        try await Self.surely {
            // With local read concern, the client could see a write of the mirror that an election then undoes.
            text = try await test.database.documents(
                Self.collections[side], ["_id": id(number, side)], readConcern: "majority"
            ).first?[Self.field(side)]?.text
        }
        return text
    }

    /// Writes and deletes random documents on one side, until the model is stopped.
    ///
    /// Side 0, the original, gets the documents with even numbers. Side 1, the partner, gets those with odd numbers. A
    /// few of the documents are written on both sides.
    func write(_ side: Int, of count: Int, to test: PartnerCase, _ model: Model) async throws {
        while !model.isStopped {
            for _ in 0..<8 {
                let number = Int.random(in: 0..<count / 2) * 2 + side
                let text = Self.texts.randomElement() ?? ""
                if !Self.isShared(number), Int.random(in: 0..<10) == 0 {
                    try await Self.surely {
                        try await test.database.delete(Self.collections[side], ["_id": id(number, side)])
                    }
                    model.wrote(number, nil)
                    continue
                }
                try await set(number, side, text, in: test)
                model.wrote(number, text)
                // If clients of both sides write this document, the other side is also written immediately afterwards,
                // so that conflicts occur.
                if Self.isShared(number) { try await set(number, 1 - side, "shared \(text)", in: test) }
            }
        }
    }

    private func set(_ number: Int, _ side: Int, _ text: String, in test: PartnerCase) async throws {
        let update: BSONValue = ["q": ["_id": id(number, side)], "u": update(number, side, text), "upsert": true]
        try await Self.surely {
            try await test.database.run(["update": .string(Self.collections[side]), "updates": [update]])
        }
    }

    /// Repeats a client's write for up to two minutes until it succeeds, because it may fail during an election.
    static func surely(_ write: () async throws -> Void) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            do { return try await write() } catch {
                if ContinuousClock.now > end { throw error }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
