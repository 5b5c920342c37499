import BSON
import Concurrency
import JobState
package import Mongo

/// Tries the assumptions on which every write relies, in a scratch collection of the state database.
package enum WritingProof {
    private static let prefix = "prove_"
    private static let noMajority = "no majority of the replica set confirms a write within 5 s"

    /// Tries each assumption, and drops the scratch collection at the end; blocks the thread.
    ///
    /// Nothing else is written, except that scratch collections of killed proofs are dropped.
    /// - Parameter isStopped: returns whether to leave out the remaining assumptions.
    /// - Returns: a part with one case for each assumption that was tried.
    /// - Throws: ``MongoError`` if the deployment cannot be reached.
    package static func run(
        on pool: ClientPool, in stateDatabase: String, isStopped: () -> Bool = { false }
    ) throws(MongoError) -> Proof.Part {
        let started = ContinuousClock.now
        let state = StoreClient(database: stateDatabase, client: try pool.client())
        let hello = try state.client.hello()
        var part = Proof.Part(.writing, untried: "a standalone server has no transactions, in which jobs write")
        part.unanswered = Assumption.all.count
        if hello.topology == .standalone { return part }
        part.restriction = "this member is not the primary"
        guard hello.isWritablePrimary else { return part }
        let now = Int(ServerTime(hello.reply["localTime"])?.milliseconds ?? 0) / 1_000
        let name = prefix + String(now, radix: 16) + "_" + String(UInt32.random(in: 0 ... .max), radix: 16)
        do throws(MongoError) { try dropLeftovers(of: state, now) } catch  where error.domain == .server {}
        var reasons: [String] = []
        do throws(MongoError) {
            // A write creates the collection.
            try state.put(name, id: 0, [:])
            part.unanswered = 0
            for assumption in Assumption.all {
                let finding =
                    isStopped() ? .untried("the proof was stopped") : try finding(of: assumption, on: pool, name, state)
                if case .untried(let reason) = finding {
                    part.unanswered += 1
                    part.counts[assumption.name] = 0
                    reasons.append("\(assumption.name) was not tried: \(reason)")
                } else {
                    part.compared([assumption.name])
                }
                guard case .deviation(let seen) = finding else { continue }
                part.differ(assumption.name, [:], program: assumption.sentence, server: seen)
            }
        } catch {
            try? drop(name, state)
            guard error.domain == .server || error.isWriteConcern else { throw error }
            part.restriction = "no collection can be created in \(stateDatabase): \(error.message)"
            if error.isWriteConcern { part.restriction = noMajority }
            return part
        }
        do throws(MongoError) { try drop(name, state) } catch  where error.domain == .server {
            reasons.append("the collection \(stateDatabase).\(name) cannot be dropped: \(error.message)")
        }
        part.restriction = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
        part.seconds = started.duration(to: .now).seconds
        return part
    }

    /// Tries an assumption, a few times if an election or the like comes between; returns `nil` if it holds.
    private static func finding(
        of assumption: Assumption, on pool: ClientPool, _ name: String, _ state: StoreClient, attempts: Int = 3
    ) throws(MongoError) -> Trial.Finding? {
        do {
            try Overload.within(.short) {
                try state.delete(name, where: [:])
                guard let trial = try Trial(on: pool, Namespace(database: state.database, collection: name)) else {
                    throw Trial.Finding.deviation("the record of a job without a runner is held by one")
                }
                try assumption.attempt(trial)()
            }
            return nil
        } catch let finding as Trial.Finding {
            return finding
        } catch let error as MongoError {
            if error.isTransient, attempts > 1 {
                PosixThread.sleep(.milliseconds(300))
                return try finding(of: assumption, on: pool, name, state, attempts: attempts - 1)
            }
            if error.isOverload { return .untried("the server is overloaded") }
            if error.isTimeLimit { return .untried("a command takes longer than 5 s") }
            if error.isAuthorization { return .untried(error.message) }
            if error.isWriteConcern { return .untried(noMajority) }
            guard error.domain == .server else { throw error }
            return .deviation("code \(error.code.rawValue): \(error.message)")
        } catch { return .deviation("\(error)") }
    }

    /// Drops the scratch collections of killed proofs, which are older than any proof takes.
    private static func dropLeftovers(of state: StoreClient, _ now: Int) throws(MongoError) {
        let filter: BSONDocument = ["name": .regex(pattern: "^\(prefix)[0-9a-f]+_[0-9a-f]+$", options: "")]
        let options: BSONDocument = ["filter": .object(filter), "nameOnly": true, "authorizedCollections": true]
        for found in try state.client.listCollections(of: state.database, options: options) {
            let made = Int(found.name.dropFirst(prefix.count).prefix { $0 != "_" }, radix: 16) ?? now
            if made + 300 < now { try drop(found.name, state) }
        }
    }

    private static func drop(_ name: String, _ state: StoreClient) throws(MongoError) {
        try state.client.runCommand(
            ["drop": .string(name), "maxTimeMS": 5_000, "writeConcern": ["w": 1]], on: state.database)
    }
}
