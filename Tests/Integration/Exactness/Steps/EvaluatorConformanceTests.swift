import BSON
import Evaluating
import Jobs
import Mongo
import Proving
import TestSupport
import Testing

/// Tests that the client evaluates the expressions of a step as the server does, or reports that it cannot.
@Suite struct EvaluatorConformanceTests {
    /// An expression of a step that the client and the server both evaluate.
    private struct Question {
        let name: String
        let expression: Expression
        let isCondition: Bool
    }

    /// Returns the expressions of a step.
    ///
    /// They decide whether a document needs the step and why the step skips a document, or compute the new value of a
    /// field.
    private static func questions(_ step: CompiledStep) throws -> [Question] {
        var questions = [
            Question(name: "needs", expression: step.needs, isCondition: true),
            Question(name: "may need", expression: step.mayNeed, isCondition: true),
        ]
        for (index, left) in step.skipped.enumerated() {
            questions.append(Question(name: "reason \(index)", expression: left.when, isCondition: true))
        }
        for field in try step.stage["$set"]?.document?.elements() ?? [] {
            questions.append(Question(name: field.name, expression: Expression(field.value), isCondition: false))
        }
        return questions
    }

    /// The server's results of a step's expressions, for each document.
    private struct Answers {
        let step: CompiledStep
        let documents: [BSONDocument]
        /// For each expression, the result for each document; `nil` if the result is missing.
        let values: [(question: Question, values: [BSONValue?])]
        /// The documents after the server has applied the step's stage to them.
        let after: [BSONDocument]
    }

    /// Inserts documents, and lets the server evaluate the step's expressions over them.
    private func answers(
        _ form: String, over documents: [BSONDocument], in database: TestDatabase
    ) async throws -> Answers {
        _ = try? await database.run(["drop": "c"])
        try await database.run(["insert": "c", "documents": .array(of: documents.map { .object($0) })])
        let step = CompiledStep(try step(form))
        let (namespace, pool) = (database.namespace("c"), database.pool)
        @Sendable func results(_ stage: BSONDocument) async throws -> [BSONDocument] {
            try await pool.run {
                try $0.collection(namespace).aggregate([["$sort": ["_id": 1]], stage]).documents()
            }
        }
        var values: [(Question, [BSONValue?])] = []
        for question in try Self.questions(step) {
            // A condition may evaluate to another type than a bool, so `$cond` makes a bool of it.
            let answer: BSONValue =
                question.isCondition ? ["$cond": [question.expression.bson, true, false]] : question.expression.bson
            values.append((question, try await results(["$project": ["_id": 0, "v": answer]]).map { $0["v"] }))
        }
        return Answers(
            step: step, documents: try await database.documents("c"), values: values,
            after: try await results(step.stage))
    }

    /// Returns the documents for which the client's value of an expression differs from the server's value.
    ///
    /// `evaluated` is the number of documents for which the client evaluates the expression at all.
    private static func differences(
        _ expression: Expression, isCondition: Bool, from values: [BSONValue?], over documents: [BSONDocument]
    ) -> (documents: [BSONDocument], evaluated: Int) {
        let compiled = CompiledExpression(expression)
        var (different, evaluated): ([BSONDocument], Int) = ([], 0)
        for (document, value) in zip(documents, values) {
            let found: BSONValue?
            do throws(NotEvaluated) {
                found =
                    isCondition ? .bool(try compiled.holds(for: document.view)) : try compiled.value(for: document.view)
            } catch { continue }
            evaluated += 1
            if found?.bytes != value?.bytes { different.append(document) }
        }
        return (different, evaluated)
    }

    /// Expects that the client's results of a step's expressions are those of the server, for each document.
    ///
    /// - Parameter minimum: the smallest share of the expressions, from 0 to 1, that the client has to evaluate itself.
    private func compare(
        _ form: String, over documents: [BSONDocument], in database: TestDatabase, minimum: Double
    ) async throws {
        let answers = try await answers(form, over: documents, in: database)
        var (reported, asked) = (0, 0)
        for (question, values) in answers.values {
            let (different, evaluated) = Self.differences(
                question.expression, isCondition: question.isCondition, from: values, over: answers.documents)
            for document in different { Issue.record("\(form), \(question.name): \(document)") }
            reported += evaluated
            asked += values.count
        }
        // The document after the step is compared as a whole with the result of the step's stage on the server.
        var group = SharedFields()
        let update = try #require(CompiledUpdate([answers.step.stage], in: &group))
        let needs = CompiledExpression(answers.step.needs, in: &group)
        var frame = group.frame()
        for (document, after) in zip(answers.documents, answers.after) {
            do throws(NotEvaluated) {
                // Only changed documents are compared, because an aggregation may alter a document that the step skips,
                // for example if a field name occurs twice.
                try frame.locate(group, in: document.view)
                guard try needs.holds(for: document.view, in: &frame) else { continue }
                #expect(try update.applied(to: document.view, in: &frame).bytes == after.bytes, "\(form): \(document)")
            } catch {}
        }
        #expect(Double(reported) >= Double(asked) * minimum, "\(form): \(reported) of \(asked)")
    }

    /// The constants that the test puts in the place of an operator's value, as if the client had a bug.
    ///
    /// There are several, because the client does not evaluate an operator that gets an operand of a wrong type.
    private static let wrong: [BSONValue] = [nil, [], [true], true, "x", 1, [[["v": 1], ["v": "x"]]]]

    /// Expects that the comparison finds a bug in any operator that the steps use.
    ///
    /// For each operator, the test replaces its calls by a constant in the expressions that the client evaluates.
    @Test func aBugInAnyOperatorIsFound() async throws {
        var random = Randomness(seed: 7)
        let repeated: [BSONDocument] = [
            ["_id": 2_000_000, "name": "n", "v": 1, "w": 2, "v": 3], ["_id": 2_000_001, "name": "n", "w": 1, "w": 2],
        ]
        let documents =
            StepCases.documents + (0..<400).map { StepCases.document(1_000_000 + $0, &random) } + repeated
        try await Mongod.shared.withDatabase { database in
            var (used, found): (Set<String>, Set<String>) = ([], [])
            for form in StepCases.forms {
                let answers = try await answers(form, over: documents, in: database)
                for (question, values) in answers.values {
                    let operators = Self.operators(in: question.expression.bson)
                    used.formUnion(operators)
                    for name in operators.subtracting(found) {
                        let isFound = Self.wrong.contains { value in
                            let bug = Expression(Self.planted(value, for: name, in: question.expression.bson))
                            return !Self.differences(
                                bug, isCondition: question.isCondition, from: values, over: answers.documents
                            ).documents.isEmpty
                        }
                        if isFound { found.insert(name) }
                    }
                }
            }
            #expect(found.count > 30, "\(found.sorted())")
            // The client knows none of these operators. It leaves the lists of a `dedupe` step to the server, so the
            // comparison finds no bug in these operators.
            let unknown: Set = ["$setUnion", "$slice", "$range", "$indexOfArray"]
            #expect(used.subtracting(found) == unknown)
        }
    }

    /// Returns the operators that an expression calls, without those in a `$literal`.
    private static func operators(in expression: BSONValue) -> Set<String> {
        switch expression {
        case .array(let array): array.values.reduce(into: []) { $0.formUnion(operators(in: $1)) }
        case .object(let object):
            ((try? object.elements()) ?? []).reduce(into: []) { operators, field in
                if field.name.hasPrefix("$") { operators.insert(field.name) }
                if field.name != "$literal" { operators.formUnion(Self.operators(in: field.value)) }
            }
        default: []
        }
    }

    /// Returns the expression with a constant in the place of each call of an operator.
    private static func planted(_ value: BSONValue, for name: String, in expression: BSONValue) -> BSONValue {
        switch expression {
        case .array(let array): .array(of: array.values.map { planted(value, for: name, in: $0) })
        case .object(let object):
            if object[name] != nil {
                ["$literal": value]
            } else if object["$literal"] != nil {
                expression
            } else {
                .object(
                    BSONDocument(
                        ((try? object.elements()) ?? []).map { ($0.name, planted(value, for: name, in: $0.value)) }))
            }
        default: expression
        }
    }

    @Test(arguments: StepCases.forms) func everyKindOverOddValues(_ form: String) async throws {
        try await Mongod.shared.withDatabase {
            try await compare(form, over: StepCases.documents, in: $0, minimum: 0.4)
        }
    }

    @Test(arguments: StepCases.forms) func everyKindOverRandomDocuments(_ form: String) async throws {
        var random = Randomness(seed: UInt64(StepCases.forms.firstIndex(of: form) ?? 0) + 1)
        let documents = (0..<TestScale.pick(200, full: 2_000, torture: 20_000)).map { StepCases.document($0, &random) }
        try await Mongod.shared.withDatabase { database in
            for part in documents.parts(of: 2_000) {
                try await compare(form, over: part, in: database, minimum: 0)
            }
        }
    }
}

extension Array {
    fileprivate func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
