import BSON
import Conformance

/// A random job, and its expected result for any document.
struct ModelJob: Sendable {
    let steps: [ModelStep]
    let limits: String
    /// Whether the job names an active schema, so that the unsync budget judges its writes.
    let isGated: Bool

    /// The document after the job, and for each step the reason why it skips the document, if it does.
    struct Outcome: Sendable {
        var document: BSONDocument
        var leftAlone: [String?]
    }

    /// Whether the model knows the effect of every step.
    var isKnown: Bool { steps.allSatisfy { $0.find != nil } }

    /// The outermost fields that the job writes.
    var topLevelTargets: [String] { Array(Set(steps.flatMap { [$0.target] + $0.others }.map { $0.components[0] })) }

    /// Runs all steps over a document, each on the result of the one before; `nil` if the model does not know it.
    func outcome(of document: BSONDocument) throws -> Outcome? {
        guard isKnown else { return nil }
        var outcome = Outcome(document: document, leftAlone: [])
        for step in steps {
            var reason: String?
            switch try step.find?(outcome.document) {
            case .nothing?, nil: break
            case .leftAlone(let found)?: reason = found
            case .becomes(let changed)?:
                if isAmbiguous(outcome.document) {
                    reason = ModelStep.Reason.repeatedName
                } else {
                    outcome.document = changed
                }
            }
            outcome.leftAlone.append(reason)
        }
        return outcome
    }

    /// Whether a name occurs twice in the document, or in a parent of a field that the job writes or reads.
    private func isAmbiguous(_ document: BSONDocument) -> Bool {
        let paths = steps.flatMap(\.paths)
        let objects = paths.flatMap { path in
            (1..<path.components.count).map { document.value(at: path.components.prefix($0)) }
        }
        return ([document] + objects.compactMap { if case .object(let inner)? = $0 { inner } else { nil } }).contains {
            let names = ((try? $0.elements()) ?? []).map(\.name)
            return Set(names).count < names.count
        }
    }

    /// Returns a job of one to four steps of which none writes a field that an earlier one reads or writes.
    static func random(using random: inout Randomness) -> ModelJob {
        var steps: [ModelStep] = []
        let count = random.pick([1, 1, 2, 3, 4])
        for _ in 0..<50 where steps.count < count {
            let step = ModelStep.random(using: &random)
            if !steps.contains(where: { step.overlaps($0) }) { steps.append(step) }
        }
        let documents = random.pick([1, 3, 7, 20, 20, 100])
        return ModelJob(
            steps: steps, limits: "{chunk: {documents: \(documents)}}",
            isGated: steps.allSatisfy { $0.find != nil } && random.percent(25))
    }

    /// A schema that many of the random documents fit, and fewer of them after many of the random steps.
    static let activeSchema = """
        {"title": "C", "bsonType": "object", "required": ["_id"], "properties": {
          "_id": {"bsonType": "int"}, "a": {"bsonType": "string"}, "b": {"bsonType": "int"}, "d": {"bsonType": "bool"},
          "c": {"bsonType": "mixed"}, "n": {"bsonType": "mixed"}, "é": {"bsonType": "mixed"}, "l": {"bsonType": \
        "mixed"},
          "f1": {"bsonType": "mixed"}, "f2": {"bsonType": "mixed"}, "f4": {"bsonType": "mixed"},
          "m": {"bsonType": "object", "title": "M", "properties": {"k": {"bsonType": "mixed"}}},
          "q": {"bsonType": "object", "title": "Q", "properties": {"r": {"bsonType": "mixed"}}},
          "e": {"bsonType": "object", "title": "E", "properties": {
            "x": {"bsonType": "string"}, "n": {"bsonType": "mixed"}, "f3": {"bsonType": "mixed"},
            "y": {"bsonType": "object", "title": "Y", "properties": {"z": {"bsonType": "mixed"}}}}}}}
        """
}

extension BSONDocument {
    fileprivate func value(at names: some Sequence<String>) -> BSONValue? {
        names.reduce(.object(self)) { value, name in
            if case .object(let document)? = value { document[name] } else { nil }
        }
    }
}
