import BSON
import Conformance
import ConformanceOracle
import Mongo
import Proving

/// A count of how often the checker agrees with the expected answers; each disagreement is printed in full.
struct Comparison: Sendable {
    private(set) var agreedCount = 0
    private(set) var disagreedCount = 0
    /// The number of cases on which mongod has no verdict, such as documents that it does not store.
    private(set) var unansweredCount = 0
    private(set) var fittingCount = 0
    private(set) var refusedCount = 0

    /// Compares the checker's answers with mongod's or, if there is no connection string, with the expected answers
    /// that the cases contain.
    ///
    /// The method blocks the thread.
    mutating func run(_ source: any CaseSource, oracle uri: String?) throws {
        var source = source
        guard let uri else {
            while let batch = try source.next() {
                for (group, expected) in batch { compare(group, with: expected) }
            }
            return
        }
        let pool = try ClientPool.open(ConnectionOptions(uri: uri))
        // A run deletes all documents of its collection, so each run has a collection of its own.
        let name = "cases_\(UInt64.random(in: 0 ... .max))"
        let oracle = Oracle(
            try pool.client(), namespace: Namespace(database: "shipshape_conformance", collection: name))
        while let batch = try source.next() {
            let answers = try oracle.answers(for: batch.map(\.0))
            for ((group, _), answers) in zip(batch, answers) { compare(group, with: answers) }
        }
        try oracle.finish()
    }

    private mutating func compare(_ group: CaseGroup, with expected: [ConformanceAnswer]) {
        let schema = JudgingSchema(group.schema)
        for (document, expected) in zip(group.documents, expected) {
            if case .none = expected {
                unansweredCount += 1
                continue
            }
            let answer = schema.answer(for: document)
            if answer.agrees(with: expected) {
                agreedCount += 1
                if case .judged(true) = answer { fittingCount += 1 }
                if case .refused = answer { refusedCount += 1 }
            } else {
                disagreedCount += 1
                show(group.schema, document, expected, answer)
            }
        }
    }

    private func show(
        _ schema: BSONDocument, _ document: BSONDocument, _ expected: ConformanceAnswer, _ answer: ConformanceAnswer
    ) {
        print("disagreement \(disagreedCount)")
        print("  schema:   \((try? schema.extendedJSON()) ?? "\(schema.bytes)")")
        print("  document: \((try? document.extendedJSON()) ?? "\(document.bytes)")")
        print("  expected: \(expected)")
        print("  got:      \(answer)")
    }
}
