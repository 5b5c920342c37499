import BSON
import Conformance
import Evaluating
import Jobs
import Mongo
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

    /// Returns the expressions of a step: whether it is needed, why it skips a document, and the new value of each
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

    /// Compares the client's results of a step's expressions with the server's, for each document.
    ///
    /// - Parameter minimum: the smallest share of the expressions, from 0 to 1, that the client has to evaluate itself.
    private func compare(
        _ form: String, over documents: [BSONDocument], in database: TestDatabase, minimum: Double
    ) async throws {
        try await database.run(["insert": "c", "documents": .array(of: documents.map { .object($0) })])
        let (step, stored) = (CompiledStep(try step(form)), try await database.documents("c"))
        let (namespace, pool) = (database.namespace("c"), database.pool)
        @Sendable func answers(_ stage: BSONDocument) async throws -> [BSONDocument] {
            try await pool.run {
                try $0.collection(namespace).aggregate([["$sort": ["_id": 1]], stage]).documents()
            }
        }
        var (reported, asked) = (0, 0)
        for question in try Self.questions(step) {
            let compiled = CompiledExpression(question.expression)
            // A condition may evaluate to another type than a bool, so `$cond` makes a bool of it.
            let answer: BSONValue =
                question.isCondition ? ["$cond": [question.expression.bson, true, false]] : question.expression.bson
            for (document, answer) in zip(stored, try await answers(["$project": ["_id": 0, "v": answer]])) {
                asked += 1
                let found: BSONValue?
                do throws(NotEvaluated) {
                    found =
                        question.isCondition
                        ? .bool(try compiled.holds(for: document.view)) : try compiled.value(for: document.view)
                } catch { continue }
                reported += 1
                #expect(found?.bytes == answer["v"]?.bytes, "\(form), \(question.name): \(document)")
            }
        }
        // The document after the step is compared as a whole with the result of the step's stage on the server.
        var group = SharedFields()
        let update = try #require(CompiledUpdate([step.stage], in: &group))
        let needs = CompiledExpression(step.needs, in: &group)
        var frame = group.frame()
        for (document, after) in zip(stored, try await answers(step.stage)) {
            do throws(NotEvaluated) {
                // Only changed documents are compared, because an aggregation may alter a document that the step skips,
                // for example if a field name occurs twice.
                try frame.locate(group, in: document.view)
                guard try needs.holds(for: document.view, in: &frame) else { continue }
                #expect(try update.applied(to: document.view, in: frame).bytes == after.bytes, "\(form): \(document)")
            } catch {}
        }
        #expect(Double(reported) >= Double(asked) * minimum, "\(form): \(reported) of \(asked)")
    }

    @Test(arguments: StepsEveryKindTests.forms) func everyKindOverOddValues(_ form: String) async throws {
        try await Mongod.shared.withDatabase {
            try await compare(form, over: StepsEveryKindTests.documents, in: $0, minimum: 0.4)
        }
    }

    @Test(arguments: StepsEveryKindTests.forms) func everyKindOverRandomDocuments(_ form: String) async throws {
        var random = Randomness(seed: UInt64(StepsEveryKindTests.forms.firstIndex(of: form) ?? 0) + 1)
        let documents = (0..<TestScale.pick(200, full: 2_000, torture: 20_000)).map { Self.document($0, &random) }
        try await Mongod.shared.withDatabase { database in
            for part in documents.parts(of: 2_000) {
                _ = try? await database.run(["drop": "c"])
                try await compare(form, over: part, in: database, minimum: 0)
            }
        }
    }

    // MARK: Random documents

    private static let values = OddValues.all.filter { $0.name != "a huge text" }.map(\.value)

    private static func document(_ number: Int, _ random: inout Randomness) -> BSONDocument {
        var fields: [(String, BSONValue)] = [("_id", .integer(number))]
        // This field is always a text: one of the tested steps converts it with `$toString`, which accepts only
        // scalars.
        fields.append(("name", .string("n\(number)")))
        for name in ["v", "w", "o", "x"] where random.percent(70) {
            let value: BSONValue? = name == "o" && random.percent(60) ? object(&random, 2) : value(&random, 3)
            if let value { fields.append((name, value)) }
        }
        return BSONDocument(fields)
    }

    private static func value(_ random: inout Randomness, _ levels: Int) -> BSONValue? {
        switch levels > 0 ? random.below(10) : 9 {
        case 0, 1: .array(of: (0..<random.below(4)).compactMap { _ in value(&random, levels - 1) })
        case 2: object(&random, levels - 1)
        case 3: .string("\(random.below(2_000) - 1_000)" + (random.percent(50) ? "" : ".\(random.below(500))"))
        case 4: .integer(random.below(50))
        default: random.pick(values)
        }
    }

    private static func object(_ random: inout Randomness, _ levels: Int) -> BSONValue {
        var fields: [(String, BSONValue)] = []
        for name in ["a", "n", "v", "l", "city", "town", "x", "\u{E9}", "e\u{301}"] where random.percent(35) {
            if let value = value(&random, levels) { fields.append((name, value)) }
        }
        return .object(BSONDocument(fields))
    }
}

extension Array {
    fileprivate func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
