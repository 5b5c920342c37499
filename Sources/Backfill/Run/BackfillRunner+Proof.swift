import BSON
import Concurrency
import Foundation
import JobState
import Jobs
import Mongo
import Proving
import Running
import Steps

/// The comparison of a job's steps with the server's own results, before the first write.
extension BackfillRunner {
    /// Returns the job, whose steps the server computes for every document if the client computes them in another way.
    ///
    /// The steps are compared on servers that the program was not tested on, and where the run's options ask for it. A
    /// result that the job's record keeps counts for the same server, program and job.
    func proven(_ job: CompiledJob, on client: borrowing Client, _ pool: ClientPool) throws -> CompiledJob {
        let build = try early.run { try client.buildInfo() }
        guard options.proves || !build.isTested else { return job }
        let subject: BSONDocument = [
            "server": .string(build.version), "program": .string(options.release),
            "job": .string(SHA256.text(of: Array(job.job.text.utf8))),
        ]
        let kept = try? store(pool).jobs.record()?["proof"]?.document
        guard options.proves || kept?["of"]?.document != subject || kept?["agrees"] != true else { return job }
        let collection = client.collection(job.job.namespace)
        let proof = try early.run { () throws -> PhaseComparison.Outcome in
            let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
            let compiled = try job.compiled(for: client.hello().maxWireVersion).resolved(at: now)
            return try PhaseComparison.Outcome(of: compiled, on: collection, seed: .random(in: 1...999))
        }
        let server = "MongoDB \(build.version)"
        guard proof.compared > 0 || !proof.differences.isEmpty else {
            return proof.failures.first.map {
                job.leftToServer().noting("\(server) answers no comparison (\($0)), so it computes the job's steps")
            } ?? job.noting("no step was compared with \(server): the program computes none in the server's place")
        }
        var result = job
        if let first = proof.differences.first {
            result = job.leftToServer()
            result.disagreement =
                "this program and \(server) disagree on the job's steps (\(first.question)), so the server computes "
                + "them for every document, and the result is the server's"
        } else {
            result = job.noting(
                "this program and \(server) agree on the job's steps, for each of \(proof.compared.grouped) "
                    + "generated and stored documents")
        }
        result.proof = ["of": .object(subject), "agrees": .bool(proof.differences.isEmpty)]
        return result
    }
}
