import BSON
import DemoData
import TestSupport
import Testing

/// Tests that the statements of `schema infer` about its schema are true for the documents that it read, and for other
/// documents of the same kind.
@Suite struct InferTests {
    /// Loads the documents of a demo collection into two collections, `a` and `b`: a random half into each.
    private func load(_ collection: DemoCollection, into database: TestDatabase) async throws {
        var halves: [[BSONDocument]] = [[], []]
        for index in 0..<collection.count {
            var word = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
            word = (word ^ (word >> 29)) &* 0xBF58_476D_1CE4_E5B9
            halves[Int(word >> 63)].append(collection.document(at: index))
        }
        for (name, half) in zip(["a", "b"], halves) {
            for start in stride(from: 0, to: half.count, by: 5_000) {
                try await database.fill(name, Array(half[start..<min(start + 5_000, half.count)]))
            }
        }
    }

    private static let collections = DemoData.collections(
        documents: TestScale.pick(8_000, full: 20_000, torture: 100_000))

    @Test(arguments: collections.indices, ["appservices", "jsonschema"])
    func theOtherHalfOfTheDemoFitsAsStated(_ index: Int, _ dialect: String) async throws {
        let collection = Self.collections[index]
        // The documents of `Note` have `_id`s of three types, for which App Services has no schema.
        let isHopeless = collection.namespace.collection == "Note" && dialect == "appservices"
        try await InferCase.with { test in
            try await load(collection, into: test.database)
            for cover in [100, 99.5, 98] {
                let report = try await test.infer(
                    "a", "--as", dialect, "--cover", "\(cover)%", status: isHopeless ? 1 : 0)
                let own = try await test.check("a")
                #expect(report["documents_read"]?.integer == own.read)
                #expect(report["failing"]?.integer == own.failing)
                if !isHopeless { #expect(Double(own.failing) <= Double(own.read) * (1 - cover / 100) + 1e-6) }
                let other = try await test.check("b")
                let bound = try #require(report["others"]?.document).share("failing_share_at_most")
                let share = Double(other.failing) / Double(other.read)
                #expect(share <= bound, "\(collection.namespace) \(cover)%: \(share) of the others, stated \(bound)")
                #expect(bound < 0.1 || collection.count < 1_000, "\(bound) says little")
                if dialect == "jsonschema" {
                    #expect(try await test.refused("a") == own.failing)
                    #expect(try await test.refused("b") == other.failing)
                    try await test.use(as: "judged\(Int(cover * 10))")
                }
                let lint = try await test.run("lint", "schema.json", "--collection", "app.thing")
                #expect(lint.exitCode == 0, "\(lint.output)")
            }
        }
    }

    @Test(.server(from: 5, for: "field names with a leading $"), arguments: ["100%", "90%", "60%"])
    func theServerAgreesOnOddDocuments(_ cover: String) async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", NastyDocuments.all)
            let report = try await test.infer("a", "--as", "jsonschema", "--cover", cover)
            let checked = try await test.check("a")
            #expect(checked.read == NastyDocuments.all.count)
            #expect(report["failing"]?.integer == checked.failing)
            #expect(try await test.refused("a") == checked.failing)
            if cover == "100%" { #expect(checked.failing == 0) }
            let app = try await test.infer("a", "--cover", cover)
            #expect(app["within_cover"] == true)
            let lint = try await test.run("lint", "schema.json", "--collection", "app.thing")
            #expect(lint.exitCode == 0, "\(lint.output)")
        }
    }

    @Test func theNumberOfThreadsChangesNothing() async throws {
        try await InferCase.with { test in
            try await load(DemoData.collections(documents: 4_000)[0], into: test.database)
            let collection = "\(test.database.name).a"
            var texts: Set<String> = []
            for threads in ["1", "2", "7"] {
                let run = try await test.run(
                    "schema", "infer", "--collection", collection, "SHIPSHAPE_THREADS=\(threads)")
                #expect(run.exitCode == 0)
                texts.insert(run.output)
            }
            #expect(texts.count == 1)
        }
    }

    @Test func onlyMatchingDocumentsAreRead() async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", count: 100) { ["_id": .integer($0), "x": $0 < 50 ? 1 : "s"] }
            let report = try await test.infer("a", "--where", #"{"_id": {"$gte": 50}}"#)
            #expect(report["documents_read"]?.integer == 50)
            #expect(test.folder.text(of: "schema.json")?.contains("mixed") == false)
        }
    }

    @Test func aSampleIsOfTheSizeAskedFor() async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", count: 1_000) { ["_id": .integer($0), "x": "s"] }
            let report = try await test.infer("a", "--sample", "120")
            #expect(report["documents_read"]?.integer == 120)
            #expect(report["sample"]?.integer == 120)
            let bound = try #require(report["others"]?.document).share("failing_share_at_most")
            #expect(bound > 0.02, "what 60 documents held out cannot tell")
        }
    }

    @Test func aWholeDatabaseBecomesAFolderThatCheckTakes() async throws {
        for dialect in ["appservices", "jsonschema"] {
            try await InferCase.with { test in
                for collection in DemoData.collections(documents: 400).dropLast() {
                    let documents = (0..<collection.count).map(collection.document)
                    try await test.database.fill(collection.namespace.collection, documents)
                }
                try await test.database.run(["create": "empty"])
                try await test.database.run(["create": "seen", "viewOn": "Person"])
                let run = try await test.run(
                    "schema", "infer", "SHIPSHAPE_DATABASE=\(test.database.name)", "--as", dialect, "--out", "schemas")
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(
                    run.output.contains("Note: \(test.database.name).empty has no documents to infer a schema from"))
                let check = try await test.run("check", "schemas", "SHIPSHAPE_LEDGER=none")
                #expect(check.exitCode == 0, "\(check.output)\(check.errors)")
                let lint = try await test.run("lint", "schemas")
                #expect(lint.exitCode == 0, "\(lint.output)")
            }
        }
    }

    @Test func valuesAreShownOnlyWhenEnumsAreAskedFor() async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", count: 300) {
                ["_id": .integer($0), "state": $0 % 2 == 0 ? "hunter2" : "open"]
            }
            let collection = "\(test.database.name).a"
            let quiet = try await test.run("schema", "infer", "--collection", collection)
            #expect(quiet.exitCode == 0 && !(quiet.output + quiet.errors).contains("hunter2"))
            let open = try await test.run("schema", "infer", "--collection", collection, "--enums")
            #expect(open.output.contains(#""hunter2""#) && open.errors.contains(#""hunter2", "open""#))
            _ = try await test.infer("a", "--enums", "--as", "jsonschema")
            #expect(try await test.refused("a") == 0)
            try await test.database.fill("a", [["_id": "new", "state": "closed"]])
            #expect(try await test.refused("a") == 1)
        }
    }
}
