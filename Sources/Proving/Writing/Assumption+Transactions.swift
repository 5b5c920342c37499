import BSON
import Concurrency
import JobState
import Mongo
import Running

/// The assumptions about transactions.
extension Assumption {
    /// Returns the runner of a job that has no other runner.
    private static func runner(_ trial: Trial) throws -> TrialRunner {
        guard let runner = try TrialRunner(trial) else {
            throw Deviation(seen: "the record of a job without a runner is held by one")
        }
        return runner
    }

    static func refusesStatement(_ trial: Trial) throws {
        let before: [BSONDocument] = [["_id": 0, "v": "1"], ["_id": 1, "v": "2"], ["_id": 2, "v": "no"]]
        let (client, runner) = (try trial.client(inserting: before), try runner(trial))
        let convert: BSONValue = [["$set": ["v": ["$toInt": "$v"]]]]
        try runner.expect("refused with code 241 at statement 2") { transaction in
            try transaction.fence(setting: [:])
            do {
                try transaction.update(
                    (0..<3).map { UpdateStatement(["_id": .integer($0)], convert) }, of: trial.namespace, options: [:])
            } catch {
                let collection = try transaction.collection(trial.namespace)
                try trial.expect(.noSuchTransaction, "a command after the refusal") {
                    _ = try client.documents(collection)
                }
                throw error
            }
        }
        try runner.expect("refused with code 11000") { transaction in
            try transaction.fence(setting: [:])
            try transaction.insert([["_id": 3], ["_id": 0]], into: trial.namespace)
        }
        let reply = try client.collection.insert([["_id": 0]], collectsWriteErrors: true, options: Trial.options())
        let key: BSONDocument = ["_id": 0]
        try trial.expect(reply.writeErrors.first?.takenKey == key, "code 11000 comes without the existing key")
        try trial.expect(try client.documents() == before, "writes of a refused transaction are kept")
        try runner.expect("committed") { try $0.fence(setting: [:]) }
    }

    static func refusesChangedDocument(_ trial: Trial) throws {
        let client = try trial.client(inserting: [["_id": 0, "v": 0], ["_id": 1, "v": 0]])
        try runner(trial).expect("in conflict with another client") { transaction in
            _ = try client.documents(try transaction.collection(trial.namespace))
            try client.set("other", to: 1, of: 1)
            try transaction.fence(setting: [:])
            try transaction.update(
                (0..<2).map { Trial.setting("v", to: 1, of: .integer($0)) }, of: trial.namespace, options: [:])
        }
        let expected: [BSONDocument] = [["_id": 0, "v": 0], ["_id": 1, "v": 0, "other": 1]]
        try trial.expect(try client.documents() == expected, "writes of a transaction in conflict are kept")
    }

    static func readsSnapshot(_ trial: Trial) throws {
        let client = try trial.client(inserting: [["_id": 0, "n": 0], ["_id": 1, "n": 0]])
        let runner = try runner(trial)
        for round in 0..<10 {
            try runner.expect("committed", after: round) { transaction in
                let collection = try transaction.collection(trial.namespace)
                let first = try client.documents(collection)
                try client.set("n", to: .integer(round + 1), of: 1)
                try trial.expect(
                    first.first?["n"] == .integer(round), "a transaction does not see its session's last commit")
                try trial.expect(
                    try client.documents(collection) == first, "a transaction sees a write that is later than its reads"
                )
                try transaction.fence(setting: [:])
                try transaction.update(
                    [Trial.setting("n", to: .integer(round + 1), of: 0)], of: trial.namespace, options: [:])
            }
        }
    }

    static func fencesRecord(_ trial: Trial) throws {
        let (client, runner) = (try trial.client(inserting: [["_id": 0]]), try runner(trial))
        try trial.expect(try TrialRunner(trial) == nil, "two runners hold one lease")
        try runner.expect("not matched by the fence", after: 1) { try $0.fence(setting: [:]) }
        try runner.expect("committed") { transaction in
            try transaction.fence(setting: [:])
            try trial.expect(
                try client.isKept(from: runner.ranges.id, for: .milliseconds(200)),
                "another client writes the record of an open transaction")
        }
        try trial.expect(.writeConflict, "the fence of a transaction in which another runner takes the lease") {
            _ = try runner.transaction(after: 1) { transaction in
                _ = try client.documents(try transaction.collection(trial.namespace))
                try runner.ranges.release(runner.lease)
                try trial.expect(try TrialRunner(trial) != nil, "a lease cannot be taken after its release")
                try transaction.fence(setting: [:])
            }
        }
        try runner.expect("not matched by the fence", after: 1) { try $0.fence(setting: [:]) }
    }

    static func endsKilledSession(_ trial: Trial) throws {
        let (client, dead) = (try trial.client(inserting: [["_id": 0]]), try trial.client())
        try dead.inTransaction { collection in
            try collection.update([Trial.setting("v", to: 1, of: 0)])
            try trial.expect(
                try client.isKept(from: 0, for: .milliseconds(200)), "another client writes a transaction's document")
            let id = dead.session.id["id"] ?? .null
            let refusal = try trial.code { try client.client.killSessions([["id": id]]) }
            guard refusal.rawValue == 0 else {
                throw Untried(reason: "the server refuses killSessions with code \(refusal.rawValue)")
            }
            try trial.expect(
                try !client.isKept(from: 0, for: .seconds(3)), "3 s after killSessions, the document is still held")
            try trial.expect(.noSuchTransaction, "the commit after killSessions") {
                try dead.session.commitTransaction()
            }
        }
    }

    static func repeatsCommit(_ trial: Trial) throws {
        let client = try trial.client(inserting: [["_id": 0, "n": 0]])
        try client.inTransaction { collection in
            try collection.update([UpdateStatement(["_id": 0], ["$inc": ["n": 1]])])
            try client.session.commitTransaction()
            // The driver repeats a commit with a majority. If only the majority is missing, the commit was done.
            do { try client.session.commitTransaction() } catch let error as MongoError where error.isWriteConcern {}
        }
        let expected: [BSONDocument] = [["_id": 0, "n": 1]]
        try trial.expect(try client.documents() == expected, "a transaction is not written exactly once")
        let (other, number) = (try trial.client(), BSONValue.long(1 << 40))
        try trial.expect(.noSuchTransaction, "the commit of an unknown transaction") {
            try other.client.runCommand(
                ["commitTransaction": 1, "txnNumber": number, "autocommit": false], on: "admin",
                options: try other.session.options())
        }
    }

    static func waitsForMajority(_ trial: Trial) throws {
        let runner = try runner(trial)
        for round in 0..<3 {
            try runner.expect("committed", after: round) { try $0.fence(setting: [:]) }
            let written = RangeStore.sequence(of: try runner.ranges.renew(runner.lease).1)
            let read = RangeStore.sequence(of: try runner.ranges.document() ?? [:])
            try trial.expect(
                written == round + 1 && read == round + 1,
                "after transaction \(round + 1), the write sees \(written), and a majority read sees \(read)")
        }
    }
}
