import BSON
import Concurrency
package import Mongo

/// Tries the assumptions on which everything that writes stands, in a scratch collection of the state database.
package enum WritingProof {
    /// Tries each assumption, and drops the scratch collection at the end.
    ///
    /// The calls block the thread. Nothing else is written, except that scratch collections of killed proofs are
    /// dropped.
    /// - Parameters:
    ///   - stateDatabase: the name of the database in which the collection is created.
    ///   - isStopped: returns whether to leave out the remaining assumptions.
    ///   - onNext: called before each assumption is tried.
    /// - Returns: a part with one case for each assumption that was tried.
    /// - Throws: ``MongoError`` if the deployment cannot be reached.
    package static func run(
        on pool: ClientPool, in stateDatabase: String, isStopped: () -> Bool = { false },
        onNext: (Assumption) -> Void = { _ in }
    ) throws(MongoError) -> Proof.Part {
        let started = ContinuousClock.now
        var part = Proof.Part(.writing)
        let client = try pool.client()
        let hello = try client.hello()
        guard hello.topology != .standalone else {
            return part.without("a standalone server has no transactions, in which jobs write")
        }
        guard hello.isWritablePrimary else { return part.without("this member is not the primary") }
        do throws(MongoError) { try removeLeftovers(in: stateDatabase, now: hello.time, client) } catch
            where error.domain == .server
        {}
        let namespace = Namespace(database: stateDatabase, collection: name(at: hello.time))
        do throws(MongoError) {
            try client.runCommand(
                [
                    "create": .string(namespace.collection), "comment": .string(comment),
                    "writeConcern": ["w": "majority", "wtimeout": 5_000],
                ], on: stateDatabase)
        } catch  where error.domain == .server {
            return part.without("no collection can be created in \(stateDatabase): \(error.message)")
        } catch  where error.isWriteConcern {
            try drop(namespace, client)
            return part.without(noMajority)
        }
        do throws(MongoError) {
            let trial = Trial(pool: pool, namespace: namespace, hello: hello)
            for assumption in Assumption.all {
                if isStopped() {
                    part.leave(assumption, "the proof was stopped")
                } else {
                    onNext(assumption)
                    try judge(assumption, trial, &part)
                }
            }
        } catch {
            try? drop(namespace, client)
            throw error
        }
        do throws(MongoError) { try drop(namespace, client) } catch  where error.domain == .server {
            part.restrict("the collection \(namespace) cannot be dropped: \(error.message)")
        }
        part.seconds = started.duration(to: .now) / .seconds(1)
        return part
    }

    /// Tries an assumption, a few times if an election or the like comes between.
    private static func judge(
        _ assumption: Assumption, _ trial: Trial, _ part: inout Proof.Part
    ) throws(MongoError) {
        for attempt in 1...3 {
            do {
                try Overload.within(.short) {
                    try trial.empty()
                    try assumption.attempt(trial)
                }
                return part.count(assumption, seen: nil)
            } catch let deviation as Assumption.Deviation {
                return part.count(assumption, seen: deviation.seen)
            } catch let untried as Assumption.Untried {
                return part.leave(assumption, untried.reason)
            } catch let error as MongoError {
                if error.isTransient, attempt < 3 {
                    PosixThread.sleep(.milliseconds(300))
                    continue
                }
                if error.isOverload { return part.leave(assumption, "the server is overloaded") }
                if error.isTimeLimit { return part.leave(assumption, "a command takes longer than 5 s") }
                if error.isAuthorization { return part.leave(assumption, error.message) }
                if error.isWriteConcern { return part.leave(assumption, noMajority) }
                guard error.domain == .server else { throw error }
                return part.count(assumption, seen: "code \(error.code.rawValue): \(error.message)")
            } catch {
                return part.count(assumption, seen: "\(error)")
            }
        }
    }

    private static let noMajority = "no majority of the replica set confirms a write within 5 s"

    // MARK: The scratch collection

    private static let prefix = "prove_"
    /// The comment of the proof's commands in the server's log.
    static let comment = "shipshape prove"

    /// The age at which a scratch collection certainly belongs to a killed proof, because no proof takes so long.
    private static let oldest = 300

    /// Returns a new name, which contains the server's time in seconds.
    static func name(at time: Int) -> String {
        prefix + String(time, radix: 16) + "_" + String(UInt32.random(in: 0 ... .max), radix: 16)
    }

    /// Drops the scratch collections of killed proofs.
    private static func removeLeftovers(
        in database: String, now: Int, _ client: borrowing Client
    ) throws(MongoError) {
        let filter: BSONDocument = ["name": .regex(pattern: "^\(prefix)[0-9a-f]+_[0-9a-f]+$", options: "")]
        let found = try client.listCollections(
            of: database, options: ["filter": .object(filter), "nameOnly": true, "authorizedCollections": true])
        for name in found.map(\.name) {
            guard let made = Int(name.dropFirst(prefix.count).prefix { $0 != "_" }, radix: 16), made + oldest < now
            else { continue }
            try drop(Namespace(database: database, collection: name), client)
        }
    }

    private static func drop(_ namespace: Namespace, _ client: borrowing Client) throws(MongoError) {
        try client.runCommand(
            [
                "drop": .string(namespace.collection), "maxTimeMS": 10_000, "comment": .string(comment),
                "writeConcern": ["w": 1],
            ], on: namespace.database)
    }
}

extension ServerHello {
    /// The server's time, in seconds since 1970.
    fileprivate var time: Int {
        guard case .date(let milliseconds)? = reply["localTime"] else { return 0 }
        return Int(milliseconds / 1_000)
    }
}

extension Proof.Part {
    /// Returns this part with every assumption unanswered for one reason.
    fileprivate func without(_ reason: String) -> Proof.Part {
        var part = self
        part.unanswered = Assumption.all.count
        part.restriction = reason
        return part
    }

    /// Counts an assumption that was tried.
    /// - Parameter seen: the observation that contradicts it; `nil` if it holds.
    fileprivate mutating func count(_ assumption: Assumption, seen: String?) {
        cases += 1
        counts[assumption.name] = 1
        guard let seen else { return }
        differences.append(
            Proof.Difference(.writing, assumption.name, [:], program: assumption.sentence, server: seen))
    }

    /// Counts an assumption that could not be tried.
    fileprivate mutating func leave(_ assumption: Assumption, _ reason: String) {
        unanswered += 1
        counts[assumption.name] = 0
        restrict("\(assumption.name) was not tried: \(reason)")
    }

    /// Adds a reason why not all was compared.
    fileprivate mutating func restrict(_ reason: String) {
        restriction = restriction.map { "\($0); \(reason)" } ?? reason
    }
}
