import BSON
import Jobs

extension Survey {
    /// Adds the documents that need a step, as the server and the client together evaluate them.
    func addEvaluated(to result: inout Result) throws {
        var evaluation = Evaluation(scope, through: job.steps, in: job.context(collection), onlyNeeding: true)
        while let outcome = try evaluation.next() {
            result.documents += 1
            if outcome.isChanged { result.needing += 1 }
            for (slot, finding) in outcome.findings.enumerated() {
                let step = slot % job.steps.count
                switch finding {
                case .nothing: break
                case .needed where slot < job.steps.count: result.before[step].needing += 1
                case .needed: result.after[step].needing += 1
                case .leftAlone(let reason):
                    guard slot < job.steps.count else { continue }
                    result.before[step].add(reason, outcome.before["_id"] ?? .null)
                }
            }
        }
        for step in result.before.indices { result.after[step].leftAlone = result.before[step].leftAlone }
    }
}

extension BackfillReport.StepCount {
    fileprivate mutating func add(_ reason: CompiledStep.Reason, _ id: BSONValue) {
        let index =
            leftAlone.firstIndex { $0.reason == reason.rawValue }
            ?? {
                leftAlone.append(
                    BackfillReport.LeftAlone(
                        reason: reason.rawValue, isTrouble: reason.isTrouble, count: 0, samples: []))
                return leftAlone.count - 1
            }()
        leftAlone[index].count += 1
        if leftAlone[index].samples.count < Survey.samples { leftAlone[index].samples.append(id) }
    }
}
