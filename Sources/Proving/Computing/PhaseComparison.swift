package import BSON
import Evaluating
import Jobs
package import Mongo
package import Steps

/// Compares what the client makes of documents by a phase of a job with what a server makes of them.
package struct PhaseComparison: Sendable {
    /// A document for which the two sides differ.
    package struct Difference: Sendable {
        package let document: BSONDocument
        /// The question to both sides, such as whether the document needs the step.
        package let question: String
        package let program: String
        package let server: String
    }

    /// The differences, and how many documents were compared.
    package struct Outcome: Sendable {
        package var differences: [Difference] = []
        /// The number of documents that the client evaluated.
        package var compared = 0
        /// The server's errors for documents that it cannot compute.
        package var failures: [String] = []

        mutating func add(_ other: Self) {
            differences += other.differences
            compared += other.compared
            failures += other.failures
        }
    }

    /// The operators that the phase's expressions call.
    package let operators: Set<String>

    private let needs: Expression
    private let pipeline: [BSONDocument]
    private let evaluator: PhaseEvaluator
    private let reasons: [(name: String, when: Expression, compiled: CompiledExpression)]

    /// Compiles a phase; `nil` if the server computes it for every document.
    package init?(_ phase: Phase) {
        guard let evaluator = PhaseEvaluator(phase) else { return nil }
        self.evaluator = evaluator
        needs = phase.needs
        pipeline = phase.neededPipeline
        reasons = phase.steps.flatMap { step in
            step.skipped.map { ($0.reason.rawValue, $0.when, CompiledExpression($0.when)) }
        }
        let expressions = [needs.bson] + reasons.map(\.when.bson) + pipeline.map { BSONValue.object($0) }
        operators = BSONValue.array(of: expressions).names(exceptInside: "$literal").filter { $0.hasPrefix("$") }
            .subtracting(["$set", "$literal"])
    }

    /// Compares both sides over documents, which the server does not store.
    ///
    /// If the server cannot compute a document, it is asked about the halves, down to that document.
    /// - Parameter end: the time after which nothing is halved; `nil` for no limit.
    /// - Throws: ``MongoError`` of the connection; an error of the server about a document is counted.
    package func compare(
        _ documents: [BSONDocument], on server: MongoCollection, until end: ContinuousClock.Instant? = nil
    ) throws(MongoError) -> Outcome {
        guard !documents.isEmpty else { return Outcome() }
        do {
            return try outcome(documents, try answers(documents, on: server))
        } catch {
            guard error.isAnswer else { throw error }
            guard documents.count > 1, end.map({ .now < $0 }) ?? true else {
                return Outcome(failures: [error.message])
            }
            let half = documents.count / 2
            var first = try compare(Array(documents[..<half]), on: server, until: end)
            first.add(try compare(Array(documents[half...]), on: server, until: end))
            return first
        }
    }

    /// A server's findings about a document, and the document after the phase; `nil` if the document does not need it.
    private typealias Answer = (needs: Bool, reasons: [Bool], after: BSONDocument?)

    private func answers(_ documents: [BSONDocument], on server: MongoCollection) throws(MongoError) -> [Answer] {
        let flag = { (condition: Expression) in ["$cond": [condition.bson, true, false]] as BSONValue }
        let found = try server.aggregate(
            over: documents,
            [["$project": ["_id": 0, "n": flag(needs), "r": .array(of: reasons.map { flag($0.when) })]]],
            options: .simpleCollation)
        let needing = found.indices.filter { found[$0]["n"] == true }
        let after = try server.aggregate(over: needing.map { documents[$0] }, pipeline, options: .simpleCollation)
        guard found.count == documents.count, after.count == needing.count else {
            throw MongoError(.server, .invalidReply, message: "the server returns fewer documents than it was sent")
        }
        let changed = Dictionary(uniqueKeysWithValues: zip(needing, after))
        return found.indices.map { index in
            let reasons = found[index]["r"]?.document?.values.map { $0 == true } ?? []
            return (found[index]["n"] == true, reasons, changed[index])
        }
    }

    private func outcome(_ documents: [BSONDocument], _ answers: [Answer]) throws(MongoError) -> Outcome {
        var outcome = Outcome()
        var frame = evaluator.frame()
        for (document, answer) in zip(documents, answers) {
            func differs(_ question: String, _ program: String, _ server: String) {
                outcome.differences.append(
                    Difference(document: document, question: question, program: program, server: server))
            }
            do throws(NotEvaluated) {
                let change = try evaluator.outcome(of: document.view, in: &frame)
                outcome.compared += 1
                if (change != nil) != answer.needs {
                    differs("whether it needs the step", "\(change != nil)", "\(answer.needs)")
                } else if let change, !change.change.after.hasFields(of: answer.after) {
                    differs(
                        "the document after the step", change.change.after.shown, answer.after?.shown ?? "no document")
                }
            } catch {
                // The client leaves this document to the server.
            }
            for (reason, isGiven) in zip(reasons, answer.reasons) {
                guard let holds = try? reason.compiled.holds(for: document.view), holds != isGiven else { continue }
                differs("whether it is skipped as \"\(reason.name)\"", "\(holds)", "\(isGiven)")
            }
        }
        return outcome
    }
}

extension BSONDocument {
    /// Whether both documents have the same fields, byte for byte, in any order at the top level.
    ///
    /// A run writes new fields in an order of its own, and a pipeline of several stages adds them in the order in which
    /// its stages mention them.
    fileprivate func hasFields(of other: BSONDocument?) -> Bool {
        guard let other, bytes != other.bytes else { return other != nil }
        func fields(_ document: BSONDocument) -> [[UInt8]]? {
            try? document.elements().sorted { $0.name < $1.name }.map { BSONDocument([($0.name, $0.value)]).bytes }
        }
        guard let own = fields(self) else { return false }
        return own == fields(other)
    }
}

extension BSONValue {
    /// Returns the names of all fields at any depth, except those inside fields of one name.
    func names(exceptInside skipped: String) -> Set<String> {
        switch self {
        case .array(let array): array.values.reduce(into: []) { $0.formUnion($1.names(exceptInside: skipped)) }
        case .object(let object):
            ((try? object.elements()) ?? []).reduce(into: []) { found, field in
                found.insert(field.name)
                if field.name != skipped { found.formUnion(field.value.names(exceptInside: skipped)) }
            }
        default: []
        }
    }
}
