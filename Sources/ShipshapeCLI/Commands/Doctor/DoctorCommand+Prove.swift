internal import BSON
internal import Concurrency
internal import Mongo
internal import Proving
internal import Reporting

/// The comparison of the program with the server that `--prove` makes.
extension DoctorCommand {
    /// Returns the proof of the deployment that the frame opens.
    func prove(in frame: Frame) async throws -> CommandOutcome {
        // No command of a proof takes as long, so a server that never replies ends it soon.
        let silence = Duration.seconds(10)
        let pool = try frame.pool(silence: silence)
        // A trial reads what it wrote, which a secondary may not have yet.
        let primary = try frame.pool(readsFromPrimary: true, silence: silence)
        let (seconds, seed) = (seconds ?? 60, seed ?? .random(in: 1...999_999_999))
        let (writes, stop, state) = (write, frame.stop, StateDatabase.name)
        let place =
            try await Examination.readableCollection(on: pool, schema: nil)
            ?? Namespace(database: state, collection: "proof")
        frame.begin()
        let bar = ProgressLine("prove", total: seconds, unit: ProgressState.time, isShown: output.showsProgress)
        defer { bar.finish() }
        let proof = try await onOwnedThread(name: "prove") { () throws in
            let client = try pool.client()
            let (build, wireVersion) = (try client.buildInfo(), try client.hello().maxWireVersion)
            var proof = try Proof(
                on: client.collection(place), of: build, wireVersion: wireVersion, seconds: seconds, seed: seed,
                isStopped: { stop.isRaised }, progress: { bar.add($0) })
            guard proof.refusal == nil else { return proof }
            let untried = "--write tries it in a collection of \(state) that it drops"
            proof.parts.append(
                writes && !proof.isStopped
                    ? try WritingProof.run(on: primary, in: state) { stop.isRaised }
                    : Proof.Part(.writing, untried: proof.isStopped ? "the proof was stopped" : untried))
            return proof
        }
        let result = ProofResult(proof, source: pool.redactedURI)
        return .result(result, result.isFailed ? ExitStatus.findings : proof.isStopped ? ExitStatus.stopped : nil)
    }
}
