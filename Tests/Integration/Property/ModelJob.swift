import BSON
import Conformance

/// A random job, and what it has to make of any document.
struct ModelJob: Sendable {
    let steps: [ModelStep]
    let limits: String

    /// What the job makes of a document, and why each step leaves it alone that does.
    struct Outcome: Sendable {
        var document: BSONDocument
        var leftAlone: [String?]
    }

    /// Runs all steps over a document, each on what the one before it made.
    func outcome(of document: BSONDocument) throws -> Outcome {
        var outcome = Outcome(document: document, leftAlone: [])
        for step in steps {
            var reason: String?
            switch try step.find(outcome.document) {
            case .nothing: break
            case .leftAlone(let found): reason = found
            case .becomes(let changed):
                if isAmbiguous(outcome.document, for: step) {
                    reason = ModelStep.Reason.repeatedName
                } else {
                    outcome.document = changed
                }
            }
            outcome.leftAlone.append(reason)
        }
        return outcome
    }

    /// Whether a name stands twice in the document, or in a parent of what the job writes or this step reads.
    private func isAmbiguous(_ document: BSONDocument, for step: ModelStep) -> Bool {
        let paths = steps.map(\.target) + [step.source].compactMap(\.self)
        let objects = paths.flatMap { path in
            (1..<path.components.count).map { document.value(at: path.components.prefix($0)) }
        }
        return ([document] + objects.compactMap { if case .object(let inner)? = $0 { inner } else { nil } }).contains {
            let names = ((try? $0.elements()) ?? []).map(\.name)
            return Set(names).count < names.count
        }
    }

    /// A job of one to four steps that do not undo each other: none writes what an earlier one reads or writes.
    static func random(using random: inout Randomness) -> ModelJob {
        var steps: [ModelStep] = []
        let count = random.pick([1, 1, 2, 3, 4])
        for _ in 0..<50 where steps.count < count {
            let step = ModelStep.random(using: &random)
            if !steps.contains(where: { step.overlaps($0) }) { steps.append(step) }
        }
        let documents = random.pick([1, 3, 7, 20, 20, 100])
        return ModelJob(steps: steps, limits: "{chunk: {documents: \(documents)}}")
    }
}

extension BSONDocument {
    fileprivate func value(at names: some Sequence<String>) -> BSONValue? {
        names.reduce(.object(self)) { value, name in
            if case .object(let document)? = value { document[name] } else { nil }
        }
    }
}
