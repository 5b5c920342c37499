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

extension Proof {
    /// Compares verdicts, computed values, and the order and size of values, without writing.
    ///
    /// The time is divided among the groups, because each of them would find more cases without end.
    /// - Parameters:
    ///   - place: a collection that the user may read; it need not exist.
    ///   - isStopped: whether the operator asked for a stop.
    ///   - progress: receives the number of seconds that have passed since the last call.
    /// - Throws: ``MongoError`` of the connection or the login.
    package init(
        on place: MongoCollection, of build: BuildInfo, wireVersion: Int, seconds: Int, seed: UInt64,
        isStopped: () -> Bool, progress: (Int) -> Void
    ) throws(MongoError) {
        self.init(version: build.version, seed: seed)
        refusal = try place.refusalToSupply()
        if refusal != nil { return }
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
        if let open = computing.openSteps {
            computing.part.restriction = "\(open) of the steps were not compared: a longer --seconds compares them"
        }
        self.isStopped = isStopped()
        parts = [judging.part, computing.part, reading.part]
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
