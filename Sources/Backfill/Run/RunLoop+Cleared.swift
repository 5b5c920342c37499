import BSON

/// Phases behind a step of the client: whether a document is through that step, the server alone cannot tell.
extension RunLoop {
    /// The most documents of a chunk that the client looks at one by one: each is compared with all of them.
    static let mostCleared = 200

    /// The phase with what the client found of the chunk's documents that the server cannot tell of, and as much of the
    /// chunk as it looked at.
    ///
    /// A document that an earlier step leaves alone goes on, as long as it is as it was read; one that the step would
    /// change is passed over.
    func cleared(_ chunk: Chunk, for phase: Phase) throws -> (Chunk, Phase) {
        let steps = phase.earlierOfClient
        guard !steps.isEmpty else { return (chunk, phase) }
        let names = Set(steps.flatMap { $0.step.kind.touched + $0.step.sources }.map { $0.components[0] }).sorted()
        let (runner, context) = (runner, job.context(collection))
        return try runner.patience.bridging {
            var evaluation = Evaluation(
                chunk, through: steps, in: context, onlyNeeding: true, where: phase.mayNeed)
            var cleared: [Expression] = []
            var end: BSONValue?
            while let outcome = try blaming({ try evaluation.next() }) {
                guard let id = outcome.before["_id"] else { continue }
                if let end, chunk.listed == nil, cleared.count == Self.mostCleared {
                    return (Chunk(after: chunk.after, through: end), phase.clearing(cleared))
                }
                end = id
                guard !outcome.isChanged else { continue }
                cleared.append(
                    try .all(
                        [Expression(.string("$_id")) == .constant(id)]
                            + Expression.areExactly(names, asIn: outcome.before)))
            }
            return (chunk, phase.clearing(cleared))
        }
    }
}
