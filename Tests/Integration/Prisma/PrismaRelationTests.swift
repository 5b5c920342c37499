import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests `check --follow-links` of a Prisma schema: the keys whose document is gone, for each relation.
///
/// The expected findings are written from `one2m` in
/// `query-engine/core/src/interpreter/query_interpreters/nested_read.rs` of prisma/prisma-engines at 01725d31.
@Suite struct PrismaRelationTests {
    private static let schema = """
        model User {
          id String @id @map("_id") @db.ObjectId
          email String @unique
          tenant Int
          code String
          bossId String? @db.ObjectId
          boss User? @relation("boss", fields: [bossId], references: [id])
          staff User[] @relation("boss")
          tagIDs String[] @db.ObjectId
          tags Tag[] @relation(fields: [tagIDs], references: [id])
          posts Post[] @relation("author")
          edited Post[] @relation("editor")
          bills Bill[]
          @@unique([tenant, code])
        }
        model Tag {
          id String @id @map("_id") @db.ObjectId
          userIDs String[] @db.ObjectId
          users User[] @relation(fields: [userIDs], references: [id])
        }
        model Post {
          id String @id @map("_id") @db.ObjectId
          authorId String @db.ObjectId
          author User @relation("author", fields: [authorId], references: [id])
          editorMail String? @map("mail")
          editor User? @relation("editor", fields: [editorMail], references: [email])
        }
        model Bill {
          id Int @id @map("_id")
          tenant Int
          code String
          user User @relation(fields: [tenant, code], references: [tenant, code])
        }
        """

    private static func id(_ number: UInt32) -> BSONValue { .objectID(ObjectID(high: 0, low: number)) }
    private static func text(_ number: UInt32) -> BSONValue { .string("\(ObjectID(high: 0, low: number))") }

    private static func fill(_ database: TestDatabase) async throws {
        // Users 1 and 2 are each other's boss, and 4 is his own.
        try await database.fill(
            "User",
            [
                ["_id": id(1), "email": "a", "tenant": 1, "code": "x", "bossId": id(2), "tagIDs": [id(1), id(9)]],
                ["_id": id(2), "email": "b", "tenant": .long(1), "code": "y", "bossId": id(1), "tagIDs": []],
                ["_id": id(3), "email": "c", "tenant": 2, "code": "x", "bossId": id(77)],
                ["_id": id(4), "email": "d", "tenant": 2, "code": "z", "bossId": id(4), "tagIDs": nil],
                ["_id": id(5), "email": "e", "tenant": 3, "code": "z", "bossId": nil, "tagIDs": []],
            ])
        try await database.fill("Tag", [["_id": id(1), "userIDs": [id(1), id(6), id(7)]], ["_id": id(2)]])
        try await database.fill(
            "Post",
            [
                ["_id": id(1), "authorId": id(1), "mail": "a"], ["_id": id(2), "authorId": id(99), "mail": "zz"],
                // The client reads a string, and writes it as an ObjectId into its query for the author.
                ["_id": id(3), "authorId": text(1), "mail": nil], ["_id": id(4), "authorId": text(98)],
                ["_id": id(5), "authorId": "bad"], ["_id": id(6), "authorId": nil, "mail": "A"],
            ])
        try await database.fill(
            "Bill",
            [
                ["_id": 1, "tenant": 1, "code": "x"], ["_id": 2, "tenant": 1.0, "code": "y"],
                ["_id": 3, "tenant": 2, "code": "y"], ["_id": 4, "tenant": 4, "code": "x"],
            ])
    }

    private static func dangling(
        _ collection: String, _ path: String, _ level: String, _ ids: Set<BSONValue>
    ) -> PrismaFinding {
        PrismaFinding(collection: collection, rule: "link-dangling", path: path, level: level, ids: ids)
    }

    @Test func eachRelationHasTheKeysWhoseDocumentIsGone() async throws {
        try await Mongod.shared.withBackfill { backfill in
            try await Self.fill(backfill.database)
            let found = try await PrismaQueryTests.check(Self.schema, in: backfill, ["--follow-links"])
            #expect(
                Set(found.filter { $0.rule == "link-dangling" }) == [
                    Self.dangling("User", "bossId", "info", [Self.id(3)]),
                    Self.dangling("User", "tagIDs[]", "info", [Self.id(1)]),
                    Self.dangling("Tag", "userIDs[]", "info", [Self.id(1)]),
                    Self.dangling("Post", "authorId", "certain", [Self.id(2)]),
                    Self.dangling("Post", "authorId", "certain", [Self.id(4)]),
                    Self.dangling("Post", "mail", "info", [Self.id(2), Self.id(6)]),
                    Self.dangling("Bill", "code", "certain", [3, 4]),
                ])
            let run = try await PrismaQueryTests.run(["check"], Self.schema, in: backfill, "--follow-links")
            #expect(run.exitCode == 1)
            #expect(
                run.output.hasPrefix(
                    "1 document would make `prisma.post.findMany()` fail, 4 more would make queries with `include` "
                        + "fail (Bill 2, Post 2), and 2 more are read but never found.\n"),
                "\(run.output)")
            let without = try await PrismaQueryTests.check(Self.schema, in: backfill)
            #expect(without.allSatisfy { $0.rule != "link-dangling" })
        }
    }

    /// orm#13816: the documents of a required relation were removed.
    @Test func aRequiredRelationFailsTheCheckUntilItsDocumentsAreThere() async throws {
        let schema =
            "model A {\n id Int @id @map(\"_id\")\n bs B[]\n}\n"
            + "model B {\n id Int @id @map(\"_id\")\n aId Int\n a A @relation(fields: [aId], references: [id])\n}"
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill("A", [["_id": 1]])
            // More keys than the follower keeps at a time.
            try await backfill.database.fill("B", count: 2_500) {
                ["_id": .integer($0), "aId": .long($0 % 100 == 0 ? 2 : 1)]
            }
            #expect(try await PrismaQueryTests.run(["check"], schema, in: backfill).exitCode == 0)
            let failing = backfill.folder.appending("failing.jsonl").string
            let run = try await PrismaQueryTests.run(
                ["check"], schema, in: backfill, "--follow-links", "--failures", failing)
            #expect(run.exitCode == 1)
            #expect(
                run.output.hasPrefix("25 documents would make `prisma.b.findMany()` with `include` fail.\n"),
                "\(run.output)")
            #expect(
                run.output.contains("2,500 documents read, 25 (1%) fail with an include"),
                "\(run.output)")
            let lines = try String(contentsOfFile: failing, encoding: .utf8).split(separator: "\n")
            #expect(lines.count { $0.contains("\"verdict\":\"certain\"") && $0.contains("\"link-dangling\"") } == 25)
            try await backfill.database.fill("A", [["_id": 2]])
            let after = try await PrismaQueryTests.run(["check"], schema, in: backfill, "--follow-links")
            #expect(after.exitCode == 0, "\(after.output)")
        }
    }

    /// Documents fail newly only if the relation is new or was optional.
    @Test func onlyANewlyRequiredRelationFailsACheckAgainstTheActiveSchema() async throws {
        let new =
            "model A {\n id Int @id @map(\"_id\")\n bs B[]\n}\n"
            + "model B {\n id Int @id @map(\"_id\")\n aId Int\n a A @relation(fields: [aId], references: [id])\n}"
        let old = new.replacing("a A @", with: "a A? @").replacing("aId Int\n", with: "aId Int?\n")
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill("A", [["_id": 1]])
            try await backfill.database.fill("B", [["_id": 1, "aId": 1], ["_id": 2, "aId": 2]])
            for (active, status, word) in [(old, Int32(1), "1 document would make"), (new, 0, "1 fails already")] {
                let file = try PrismaQueryTests.write(active, in: backfill, as: "active.prisma")
                let run = try await PrismaQueryTests.run(
                    ["check"], new, in: backfill, "--follow-links", "--active", file, "--fail-on", "new")
                #expect(run.exitCode == status, "\(run.output)\(run.errors)")
                #expect(run.output.contains(word), "\(run.output)")
            }
        }
    }

    @Test func theRelatedCollectionMustBeReadable() async throws {
        let mongod = try await Mongod.withAuthentication
        try await mongod.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write("datasource db {\n  provider = \"mongodb\"\n}\n" + Self.schema, to: "s.prisma")
            try await Self.fill(database)
            func run(as name: String, reading collections: [String]) async throws -> ProgramRun {
                let privileges = collections.map { collection -> BSONValue in
                    [
                        "resource": ["db": .string(database.name), "collection": .string(collection)],
                        "actions": ["find", "changeStream"],
                    ]
                }
                let uri = try await mongod.addUser("\(database.name)-\(name)", privileges: privileges)
                return try await Program.run(
                    [
                        "check", "s.prisma", "--collection", "\(database.name).Post", "--follow-links", "--uri", uri,
                        "SHIPSHAPE_DATABASE=\(database.name)",
                    ], in: folder.path)
            }
            let refused = try await run(as: "one", reading: ["Post"])
            #expect(refused.exitCode == 77, "\(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("\(database.name).User"), "\(refused.errors)")
            #expect(refused.errors.contains("find"), "\(refused.errors)")
            let run = try await run(as: "two", reading: ["Post", "User"])
            #expect(run.exitCode == 1, "\(run.output)\(run.errors)")
            #expect(run.output.contains("link-dangling"), "\(run.output)")
        }
    }

    /// A model without documents whose collection probably has another name.
    @Test(arguments: [("User", "users"), ("Category", "categories"), ("BlogPost", "blog_posts"), ("Boss", "bosses")])
    func aSimilarCollectionIsProposed(_ model: String, _ collection: String) async throws {
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill(collection, [["_id": 1]])
            let schema = "model \(model) {\n id Int @id @map(\"_id\")\n}\n"
            let alone = try await PrismaQueryTests.run(["check"], schema, in: backfill)
            #expect(alone.exitCode == 65)
            let hint = "write @@map(\"\(collection)\") into the model \(model)"
            #expect(alone.errors.contains(hint), "\(alone.errors)")
            try await backfill.database.fill("Other", [["_id": 1]])
            let both = try await PrismaQueryTests.run(
                ["check"], schema + "model Other {\n id Int @id @map(\"_id\")\n}", in: backfill)
            #expect(both.exitCode == 0)
            #expect(both.output.contains(hint), "\(both.output)")
            let mapped = schema.replacing("\n}\n", with: "\n @@map(\"\(collection)\")\n}\n")
            let run = try await PrismaQueryTests.run(["check"], mapped, in: backfill)
            #expect(run.exitCode == 0 && !run.output.contains("@@map"), "\(run.output)\(run.errors)")
        }
    }
}
