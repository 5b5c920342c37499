import BSON
import Proving

/// A random job, with a model that computes its expected result for any document.
struct ModelJob: Sendable {
    let steps: [ModelStep]
    let limits: String
    /// Whether the job names an active schema.
    ///
    /// The limit of unsyncable documents applies only to jobs with an active schema.
    let hasBudget: Bool

    /// The document after the job, and for each step the reason why the step skips the document, or `nil` if the step
    /// does not skip it.
    struct Outcome: Sendable {
        var document: BSONDocument
        var skipped: [String?]
    }

    /// Whether the model knows the effect of every step.
    var isKnown: Bool { steps.allSatisfy { $0.find != nil } }

    /// The top-level fields that the job may write.
    var topLevelTargets: [String] { Array(Set(steps.flatMap { [$0.target] + $0.others }.map { $0.components[0] })) }

    /// Returns the expected outcome of the job for a document; `nil` if the model does not know the effect of every
    /// step.
    ///
    /// Each step works on the result of the step before it.
    func outcome(of document: BSONDocument) throws -> Outcome? {
        guard isKnown else { return nil }
        var outcome = Outcome(document: document, skipped: [])
        for step in steps {
            var reason: String?
            switch try step.find?(outcome.document) {
            case .nothing?, nil: break
            case .skipped(let found)?: reason = found
            case .becomes(let changed)?:
                if isAmbiguous(outcome.document) {
                    reason = ModelStep.Reason.repeatedName
                } else {
                    outcome.document = changed
                }
            }
            outcome.skipped.append(reason)
        }
        return outcome
    }

    /// Whether a field name occurs twice at the top level, or in an object around a field that the job reads or writes.
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

    /// Returns a job of one to four random steps.
    ///
    /// The fields that one step reads or writes never equal, contain or lie inside the fields of another step.
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
            hasBudget: steps.allSatisfy { $0.find != nil } && random.percent(25))
    }

    /// The active schema of the random jobs.
    ///
    /// Many of the random documents fit it, and many of the random steps change documents so that they no longer fit.
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
