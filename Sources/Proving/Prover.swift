import BSON
import Concurrency
package import Mongo

/// One group of a proof, which compares case after case.
protocol GroupProof {
    /// The comparison so far.
    var part: Proof.Part { get set }

    /// Compares the next cases.
    /// - Throws: ``MongoError`` of the connection, of the login or of a stop.
    mutating func next() throws(MongoError)
}

/// Compares the program with a server for a given time, without writing.
package struct Prover {
    /// The time in seconds for the groups that write nothing.
    package var seconds = 60
    /// The seed of the generated cases.
    package var seed: UInt64
    /// Whether the operator asked for a stop.
    package var isStopped: () -> Bool = { false }
    /// Receives the number of seconds that have passed since the last call.
    package var progress: (Int) -> Void = { _ in }

    /// Makes a prover with the default time.
    package init(seed: UInt64) { self.seed = seed }

    /// Compares verdicts, computed values, and the order and size of values.
    ///
    /// The time is divided among the groups, because each of them would find more cases without end.
    /// - Parameter place: a collection that the user may read; it need not exist.
    /// - Throws: ``MongoError`` of the connection or the login.
    package func prove(on place: MongoCollection, of build: BuildInfo, wireVersion: Int) throws(MongoError) -> Proof {
        var proof = Proof(version: build.version, seed: seed)
        if let refusal = try place.refusalToSupply() {
            proof.refusal = refusal
            return proof
        }
        var judging = JudgingProof(on: place, of: build, seed: seed)
        var computing = ComputingProof(on: place, wireVersion: wireVersion, seed: seed)
        var reading = ReadingProof(on: place, seed: seed)
        let start = ContinuousClock.now
        var shown = 0
        while !isStopped() {
            let elapsed = start.duration(to: .now).seconds
            guard elapsed < Double(seconds) else { break }
            if Int(elapsed) > shown {
                progress(Int(elapsed) - shown)
                shown = Int(elapsed)
            }
            // The group with less than its share of the time continues.
            if reading.part.seconds < elapsed * 0.05 {
                try reading.timedNext()
            } else if judging.part.seconds < elapsed * 0.45 {
                try judging.timedNext()
            } else {
                try computing.timedNext()
            }
        }
        if let open = judging.openCases {
            judging.part.restriction = "\(open) of the fixed cases were not compared: a longer --seconds compares them"
        }
        proof.isStopped = isStopped()
        proof.parts = [judging.part, computing.part, reading.part]
        return proof
    }
}

extension GroupProof {
    fileprivate mutating func timedNext() throws(MongoError) {
        let start = ContinuousClock.now
        defer { part.seconds += start.duration(to: .now).seconds }
        try next()
    }
}

extension MongoCollection {
    /// Returns the server's reason why it does not return documents that a pipeline supplies, exactly as they were
    /// sent; `nil` if it does.
    fileprivate func refusalToSupply() throws(MongoError) -> String? {
        let sent = StepCases.documents.prefix(50).map(\.self)
        do {
            let returned = try aggregate(over: sent, [], options: .simpleCollation)
            guard returned.map(\.bytes) == sent.map(\.bytes) else { return "it returns other documents than were sent" }
            if case .refused(let reason) = try verdicts(on: [sent[0]], by: [:])[0] { return reason }
            return nil
        } catch {
            guard error.isAnswer else { throw error }
            return error.message
        }
    }
}
