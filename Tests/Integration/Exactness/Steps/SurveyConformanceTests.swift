import BSON
import Jobs
import Mongo
import TestSupport
import Testing

@testable import Steps

/// Tests that the client counts the same findings of a job's steps as the server, also if the steps depend on each
/// other.
@Suite struct SurveyConformanceTests {
    /// The counts of a survey, without samples.
    private struct Counts: Hashable, Sendable {
        let needing: Int
        let documents: Int
        let steps: [[String]]

        init(_ result: Survey.Result) {
            (needing, documents) = (result.needing, result.documents)
            steps = result.before.map { step in
                ["needing \(step.needing)"] + step.skipped.filter { $0.count > 0 }.map { "\($0.reason) \($0.count)" }
            }
        }
    }

    @Test func theClientCountsWhatTheServerCounts() async throws {
        let mongod = try await Mongod.shared
        var (compared, dependent) = (0, 0)
        for seed in 0..<UInt64(TestScale.pick(16, full: 80, torture: 800)) {
            try await mongod.withBackfill { test in
                let random = try await PropertyCase(seed: 880_000 + seed, in: test)
                let compiled = try random.compiled()
                guard compiled.isServerSide, random.collation == nil else { return }
                let namespace = test.database.namespace("c")
                let found = try await test.database.pool.run { client -> (Counts, Counts, isDependent: Bool)? in
                    let job = compiled.compiled(for: try client.hello().maxWireVersion)
                    let collection = client.collection(namespace)
                    let survey = Survey(job: job, collection: collection, surveysAfter: false)
                    guard survey.finder != nil else { return nil }
                    let ids = try collection.find().documents().compactMap { $0["_id"] }
                    guard !ids.isEmpty else { return nil }
                    // The server counts a list of documents, and the client counts a whole collection.
                    let server = try survey.run(over: ids.commandSlices(count: 1_000))
                    return (Counts(try survey.run()), Counts(server), !job.hasIndependentSteps)
                }
                guard let (client, server, isDependent) = found else { return }
                #expect(client == server, "seed \(seed), steps \(random.job.steps.map(\.yaml))")
                compared += 1
                dependent += isDependent ? 1 : 0
            }
        }
        #expect(compared > 2)
        #expect(dependent > 0)
    }

    /// The second step of a rename reads what the first step wrote, and both find a locked document.
    @Test func aLockedDocumentOfARenameIsCountedForBothSteps() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "c",
                [
                    ["_id": 1, "old": "a"], ["_id": 2, "old": "b", "new": "b"], ["_id": 3, "old": "c", "new": "d"],
                    ["_id": 4], ["_id": 5, "old": "e", "_id__baas_transaction": .string("lock")],
                ])
            try test.job(on: "c", steps: ["rename: {from: old, to: new}"])
            let job = try CompiledJob(try JobFile.read(at: test.path()), active: nil, next: nil)
            let namespace = test.database.namespace("c")
            let (client, server) = try await test.database.pool.run { client in
                let survey = Survey(job: job, collection: client.collection(namespace), surveysAfter: false)
                let ids: [BSONValue] = [1, 2, 3, 4, 5]
                return (Counts(try survey.run()), Counts(try survey.run(over: [ids])))
            }
            #expect(client == server)
            #expect(client.needing == 2)
            let locked = "locked by the sync translator 1"
            #expect(client.steps[0] == ["needing 1", "target keeps its value 1", locked])
            #expect(client.steps[1] == ["needing 2", "target holds another value 1", locked])
        }
    }
}
