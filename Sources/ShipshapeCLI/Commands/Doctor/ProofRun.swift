internal import BSON
internal import Concurrency
internal import Foundation
internal import Mongo
internal import Proving
internal import Reporting

/// The comparison of the program with the server that `doctor --prove` makes.
struct ProofRun {
    let seconds: Int
    /// Whether the assumptions about writing are tried in a scratch collection, too.
    let writes: Bool
    let seed: UInt64
    let showsProgress: Bool

    /// Returns the proof of the deployment that the frame opens.
    func run(in frame: Frame) async throws -> CommandOutcome {
        let pool = try frame.pool()
        // A trial reads what it wrote, which a secondary may not have yet.
        let primary = try frame.pool(readsFromPrimary: true)
        let (seconds, seed, writes, stop, state) = (seconds, seed, writes, frame.stop, StateDatabase.name)
        let place =
            try await Examination.readableCollection(on: pool, schema: nil)
            ?? Namespace(database: StateDatabase.name, collection: "proof")
        frame.begin()
        let bar = ProgressLine("prove", total: seconds, unit: ProgressState.time, isShown: showsProgress)
        defer { bar.finish() }
        let proof = try await onOwnedThread(name: "prove") { () throws in
            let client = try pool.client()
            let (build, wireVersion) = (try client.buildInfo(), try client.hello().maxWireVersion)
            var prover = Prover(seed: seed)
            prover.seconds = seconds
            prover.isStopped = { stop.isRaised }
            prover.progress = { bar.add($0) }
            var proof = try prover.prove(on: client.collection(place), of: build, wireVersion: wireVersion)
            guard proof.refusal == nil else { return proof }
            if proof.isStopped {
                proof.parts.append(.untried(.writing, "the proof was stopped"))
            } else if writes {
                proof.parts.append(try WritingProof.run(on: primary, in: state) { stop.isRaised })
            } else {
                proof.parts.append(.untried(.writing, "--write tries it in a collection of \(state) that it drops"))
            }
            return proof
        }
        let result = ProofResult(proof, source: pool.redactedURI)
        return .result(result, result.isFailed ? ExitStatus.findings : proof.isStopped ? ExitStatus.stopped : nil)
    }
}
