import BSON
import Foundation
import Reporting
import TestSupport
import Testing

/// Tests that each recipe of the guide makes of awkward documents what it says.
///
/// The documents after a recipe were computed by a program of their own in Python, from the words of the recipe.
@Suite struct RecipePageTests {
    /// A document before and after a recipe.
    private struct Example: Sendable {
        /// The collection, without its database; `nil` for that of the job.
        let collection: String?
        /// `nil` for a document that the recipe inserts.
        let before: BSONDocument?
        let after: BSONDocument
        /// Whether the run names the document as one that a step skips.
        let isReported: Bool
    }

    private static let examples: [String: [Example]] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/recipes.jsonl")
        var examples: [String: [Example]] = [:]
        for line in (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? [] {
            guard let record = try? BSONDocument(extendedJSON: String(line)), let recipe = record["recipe"]?.text,
                let after = record["after"]?.document
            else { continue }
            examples[recipe, default: []].append(
                Example(
                    collection: record["collection"]?.text, before: record["before"]?.document, after: after,
                    isReported: record["reported"]?.isTrue ?? false))
        }
        return examples
    }()

    @Test func eachRecipeHasDocuments() {
        #expect(Set(Recipe.all.map(\.question)) == Set(Self.examples.keys))
        #expect(Self.examples.values.allSatisfy { $0.count >= 6 })
    }

    @Test(arguments: Recipe.all) func aRecipeMakesWhatItSays(_ recipe: Recipe) async throws {
        let examples = try #require(Self.examples[recipe.question])
        try await Mongod.shared.withBackfill { test in
            let job = recipe.job.replacing(/\bapp\./, with: "\(test.database.name).")
            try test.write("job.yml", job)
            let name = try #require(job.firstMatch(of: /job: (\S+)/)?.1)
            let own = try #require(recipe.job.firstMatch(of: /collection: app\.(\S+)/)?.1)
            let collections = Dictionary(grouping: examples) { $0.collection ?? String(own) }
            for (collection, examples) in collections {
                try await test.database.fill(collection, examples.compactMap(\.before))
            }
            func expectDocuments(_ wanted: (Example) -> BSONDocument?, _ when: String) async throws {
                for (collection, examples) in collections {
                    let found = try await test.database.documents(collection)
                    let wanted = examples.compactMap(wanted)
                    #expect(found.count == wanted.count, "\(when): \(collection)")
                    for document in wanted {
                        #expect(found.contains { $0.bytes == document.bytes }, "\(when): \(document) in \(found)")
                    }
                }
            }
            let reported = examples.filter(\.isReported).compactMap { $0.before?["_id"] }
            let dryRun = try await test.backfill("job", "--dry-run", "--reviewed")
            #expect(dryRun.exitCode == (reported.isEmpty ? 0 : 1), "\(dryRun.output)\(dryRun.errors)")
            try await expectDocuments(\.before, "dry run")
            for round in ["run", "second run"] {
                let run = try await test.backfill("job", "--reviewed", "-o", "json")
                #expect(run.exitCode == dryRun.exitCode, "\(round): \(run.output)\(run.errors)")
                try await expectDocuments(\.after, round)
                let report = try BSONDocument(extendedJSON: run.output)
                for step in report["steps"]?.document?.values ?? [] {
                    for left in step.document?["left_alone"]?.document?.values ?? [] {
                        guard left.document?["is_finding"]?.isTrue == true else { continue }
                        for id in left.document?["sample_ids"]?.document?.values ?? [] {
                            #expect(reported.contains { IDKey($0) == IDKey(id) }, "\(round): \(id)")
                        }
                    }
                }
            }
            let undo = try await Program.run([
                "undo", String(name), "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(undo.exitCode == 0, "\(undo.output)\(undo.errors)")
            try await expectDocuments(\.before, "undo")
        }
    }
}
