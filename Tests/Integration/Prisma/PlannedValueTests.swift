import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that `plan` writes no value into a field that the value does not fit, and finds values under other names.
@Suite struct PlannedValueTests {
    private static func schema(_ fields: String) -> String {
        """
        datasource db {
          provider = "mongodb"
        }
        enum Size {
          SMALL
          LARGE
        }
        enum Shape {
          Round
          Square
        }
        model Tin {
          id String @id @default(auto()) @map("_id") @db.ObjectId
          \(fields)
        }

        """
    }

    private func with(
        _ documents: [BSONDocument], _ body: (BackfillCase, (String...) async throws -> ProgramRun) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("Tin", documents)
            try await body(test) { words in
                try await Program.run(
                    words + [
                        "--uri", test.uri, "SHIPSHAPE_DATABASE=\(test.database.name)",
                        "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                    ], in: test.folder)
            }
        }
    }

    private func jobs(_ test: BackfillCase) throws -> String {
        try PlanCase.texts(below: test.folder.appending("jobs")).values.joined(separator: "\n")
    }

    @Test func aUniqueFieldAndAnIdentityGetNoConstant() async throws {
        let documents: [BSONDocument] = [["label": "a"], ["label": "b"]]
        try await with(documents) { test, run in
            try test.write(
                "s.prisma",
                Self.schema(
                    "label String\n  code String @unique\n  serial Int\n  key String @default(cuid())\n"
                        + "  @@unique([serial])"
                ))
            let plan = try await run("plan", "s.prisma", "--out", "jobs")
            #expect(plan.exitCode == 1)
            #expect(
                plan.output.hasPrefix(
                    "No job can be written: 2 documents fail now. Left for you: 2 documents with 5 findings"),
                "\(plan.output)")
            for field in ["code", "serial", "key"] {
                #expect(plan.output.contains("required-missing: \(field), 2 documents"), "\(plan.output)")
            }
            for field in ["code", "serial"] {
                #expect(plan.output.contains("unique-null: \(field), 2 documents"), "\(plan.output)")
            }
            #expect(plan.output.contains("the field is unique, so that one value for all would be refused"))
        }
    }

    @Test func theTimeOfCreationIsThatOfTheID() async throws {
        let id = ObjectID("5e0c0c205ea51de17c0000b8")
        try await with([["_id": .objectID(try #require(id)), "label": "a"]]) { test, run in
            try test.write("s.prisma", Self.schema("label String\n  madeAt DateTime @default(now())"))
            let plan = try await run("plan", "s.prisma", "--out", "jobs")
            #expect(plan.exitCode == 0, "\(plan.output)\(plan.errors)")
            let filled = try await run("backfill", "jobs", "--yes", "--reviewed")
            #expect(filled.exitCode == 0, "\(filled.output)\(filled.errors)")
            // The first four bytes of the _id are the seconds since 1970.
            let expected = BSONValue.date(milliseconds: 0x5e0c_0c20 * 1_000)
            #expect(try await test.database.documents("Tin").first?["madeAt"] == expected)
        }
    }

    @Test func theOldDefaultIsStoredBeforeItChanges() async throws {
        try await with([["label": "a"], ["label": "b", "weight": .int(3)]]) { test, run in
            try test.write("old.prisma", Self.schema("label String\n  weight Int @default(10)"))
            try test.write("new.prisma", Self.schema("label String\n  weight Int @default(20)"))
            let diff = try await run("diff", "old.prisma", "new.prisma", "--offline")
            #expect(diff.output.contains("Documents without the field show the new default then."), "\(diff.output)")
            #expect(try await run("plan", "old.prisma", "new.prisma", "--out", "jobs").exitCode == 0)
            #expect(try await run("backfill", "jobs", "--yes").exitCode == 64, "it waits for a review")
            let filled = try await run("backfill", "jobs", "--yes", "--reviewed")
            #expect(filled.exitCode == 0, "\(filled.output)\(filled.errors)")
            #expect(try await test.database.documents("Tin").compactMap { $0["weight"]?.integer }.sorted() == [3, 10])
        }
    }

    @Test func aValueThatGoesIsInTheSuggestedStep() async throws {
        try await with([["size": "SMALL"]]) { test, run in
            try test.write("old.prisma", Self.schema("size Size"))
            try test.write(
                "new.prisma",
                Self.schema("size Size").replacing("  SMALL\n", with: "  Small\n").replacing("LARGE\n", with: ""))
            let text = try await run("plan", "old.prisma", "new.prisma", "--out", "jobs").output
            #expect(text.contains(#"{from: "SMALL", to: "Small"}, {from: "LARGE", to: NEW VALUE}"#), "\(text)")
        }
    }

    @Test func aStepThatChangesMoreThanWhatFailsSaysSo() async throws {
        try await with([["age": "7"], ["age": .long(5)], ["age": .int(5)]]) { test, run in
            try test.write(
                "s.json",
                #"{"title": "Tin", "bsonType": "object", "required": ["_id"], "properties": "#
                    + #"{"_id": {"bsonType": "objectId"}, "age": {"bsonType": "int"}}}"#)
            let plan = try await run("plan", "s.json", "--collection", "\(test.database.name).Tin", "--out", "jobs")
            #expect(plan.output.contains("convert: {field: age, to: int} (2 documents)"), "\(plan.output)")
            #expect(plan.output.contains("changes 1 document that does not fail, too"), "\(plan.output)")
        }
    }

    /// The documents have the first name, and the schema the second one.
    @Test(arguments: [("netWeight", "net_weights"), ("BATCH_NO", "batchNo")])
    func aForgottenMapIsFoundInTheDocuments(_ stored: String, _ name: String) async throws {
        let documents = [[(stored, BSONValue.int(5))], [(stored, .int(6))], [("label", "none")]].map {
            BSONDocument($0)
        }
        try await with(documents) { test, run in
            try test.write("s.prisma", Self.schema("\(name) Int"))
            let plan = try await run("plan", "s.prisma", "--out", "jobs")
            #expect(plan.output.contains("rename: {from: \(stored), to: \(name)} (2 documents)"), "\(plan.output)")
            let filled = try await run("backfill", "jobs", "--yes", "--reviewed")
            #expect(filled.exitCode == 0, "\(filled.output)\(filled.errors)")
            let values = try await test.database.documents("Tin").compactMap { $0[name]?.integer }
            #expect(values.sorted() == [0, 5, 6])
        }
    }

    @Test func aPlanSaysFirstThatNoOrderIsWithoutAnOutage() async throws {
        try await with([["size": "12"]]) { test, run in
            try test.write("old.prisma", Self.schema("size String"))
            try test.write("new.prisma", Self.schema("size Int"))
            let plan = try await run("plan", "old.prisma", "new.prisma", "--out", "jobs")
            #expect(
                plan.output.contains("Note: No single deploy of new.prisma is without an outage: "), "\(plan.output)")
            let text = try jobs(test)
            #expect(text.contains("# No single deploy of new.prisma is without an outage: "), "\(text)")
            #expect(
                text.replacing("\n# ", with: " ").contains("expand: deploy a version that has both fields"), "\(text)")
        }
    }

    @Test(arguments: [
        ("owner String", "owner String @db.ObjectId"), ("parts String[] @db.ObjectId", "parts String[]"),
    ])
    func anObjectIDInPlaceOfAStringIsBreakingForBoth(_ old: String, _ new: String) async throws {
        try await with([]) { test, run in
            try test.write("old.prisma", Self.schema(old))
            try test.write("new.prisma", Self.schema(new))
            let diff = try await run("diff", "old.prisma", "new.prisma", "--offline")
            #expect(diff.exitCode == 1, "\(diff.output)")
            #expect(diff.output.contains("each client finds only what is stored as its own type"), "\(diff.output)")
        }
    }
}
