import BSON
import Evaluating
import Mongo
import TestSupport
import Testing

@testable import Steps

/// Tests that a dry run whose steps the client evaluates shows the same changes as one whose steps the server
/// evaluates.
@Suite struct PreviewConformanceTests {
    /// The change that a preview shows for a document; its `before` is `nil` if the document does not need the job.
    private struct Change: Hashable, Sendable {
        let before: BSONDocument?
        let after: BSONDocument?
        let isOpen: Bool
        let changes: Int

        init(_ outcome: Preview.Outcome) {
            before = outcome.before
            // The server's aggregation may alter a document that the job does not change, for example if a field name
            // occurs twice. `after` is therefore not compared for such a document.
            after = outcome.before == nil ? nil : outcome.after
            (isOpen, changes) = (outcome.change.isOpen, outcome.change.parts)
        }
    }

    /// Whether the client can evaluate the phase for the document, and the document needs the phase.
    ///
    /// The method also compares the touched fields, which a run computes alone, with the same fields of the whole
    /// document, which a dry run computes.
    private static func isEvaluated(_ document: BSONDocument, through phase: Phase) throws -> Bool {
        guard let evaluator = PhaseEvaluator(phase) else { return false }
        var frame = evaluator.frame()
        guard let outcome = try? evaluator.outcome(of: document.view, in: &frame), let before = outcome.before
        else { return false }
        #expect(try evaluator.isNeeded(by: document.view, in: &frame))
        let fields = try evaluator.touchedChange(of: document.view, in: &frame)
        func touched(_ document: BSONDocument) -> BSONDocument {
            BSONDocument(phase.touched.compactMap { name in document[name].map { (name, $0) } })
        }
        #expect(fields.before == touched(before))
        #expect(fields.after == touched(outcome.after))
        return true
    }

    @Test func theClientSeesWhatTheServerSees() async throws {
        let mongod = try await Mongod.shared
        var compared = 0
        var evaluated = 0
        for seed in 0..<UInt64(TestScale.pick(12, full: 60, torture: 600)) {
            try await mongod.withBackfill { test in
                let random = try await PropertyCase(seed: 770_000 + seed, in: test)
                let compiled = try random.compiled()
                guard compiled.isServerSide, random.collation == nil else { return }
                let namespace = test.database.namespace("c")
                let (client, unknown, server, known) = try await test.database.pool.run { client in
                    let job = compiled.compiled(for: try client.hello().maxWireVersion)
                    let collection = client.collection(namespace)
                    var seen: [PropertyKey: Change] = [:]
                    var unknown: Set<PropertyKey> = []
                    let evaluator = PhaseEvaluator(job.whole)
                    var frame = evaluator?.frame() ?? SharedFields().frame()
                    let documents = try collection.find().documents()
                    for document in documents {
                        let key = PropertyKey(document["_id"] ?? .null)
                        do throws(NotEvaluated) {
                            guard let evaluator else { throw NotEvaluated(.failure) }
                            if let outcome = try evaluator.outcome(of: document.view, in: &frame) {
                                seen[key] = Change(outcome)
                            }
                        } catch { unknown.insert(key) }
                    }
                    var asked: [PropertyKey: Change] = [:]
                    var server = ServerPreview(.collection, through: job.whole, in: collection, onlyNeeding: true)
                    while let outcome = try server.next() {
                        asked[PropertyKey(outcome.after["_id"] ?? .null)] = Change(outcome)
                    }
                    var known = 0
                    for document in documents {
                        if try Self.isEvaluated(document, through: job.whole) { known += 1 }
                        _ = try Self.isEvaluated(document, through: job.phases[0])
                    }
                    return (seen, unknown, asked, known)
                }
                let evaluatedByServer = server.filter { !unknown.contains($0.key) }
                #expect(client.count == evaluatedByServer.count)
                for (key, change) in evaluatedByServer where client[key] != change {
                    Issue.record(
                        """
                        seed \(seed), _id \(key), steps \(random.job.steps.map(\.yaml))
                        server \(change.before?.json ?? "unchanged") -> \(change.after?.json ?? "unchanged"), \
                        open \(change.isOpen), \(change.changes) changes
                        client \(client[key]?.before?.json ?? "unchanged") -> \
                        \(client[key]?.after?.json ?? "unchanged"), open \(client[key]?.isOpen == true), \
                        \(client[key]?.changes ?? -1) changes
                        """)
                }
                compared += server.values.count { $0.before != nil }
                evaluated += known
            }
        }
        #expect(compared > 100)
        // The client must evaluate most of the steps itself. Otherwise, the test would compare the server with itself.
        #expect(evaluated > compared / 2)
    }
}
