import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the rules on documents that a Prisma client reads but never finds, with the server as the oracle.
@Suite struct PrismaQueryTests {
    /// A stored value, and the value that the client writes into a query for the value that it reads.
    struct Row: Sendable {
        let type: String
        let stored: BSONValue
        let sent: BSONValue
        let isFound: Bool
    }

    private static let hex = "0123456789abcdef01234567"
    private static let id = BSONValue.objectID(ObjectID(hex) ?? ObjectID(high: 0, low: 0))
    private static let bytes = [UInt8](repeating: 65, count: 12)
    private static let asID = BSONValue.objectID(ObjectID("414141414141414141414141") ?? ObjectID(high: 0, low: 0))
    private static let second = BSONValue.timestamp(7 << 32)

    /// Each scalar and native type with each BSON type that the client reads; written from `read_scalar_value` and
    /// `into_bson` in `query-engine/connectors/mongodb-query-connector/src/value.rs` of prisma/prisma-engines at
    /// 93c574c2.
    static let rows: [Row] = [
        Row(type: "String", stored: "a", sent: "a", isFound: true),
        Row(type: "String", stored: id, sent: .string(hex), isFound: false),
        Row(type: "String @db.String", stored: id, sent: .string(hex), isFound: false),
        Row(type: "String @db.ObjectId", stored: id, sent: id, isFound: true),
        Row(type: "String @db.ObjectId", stored: .string(hex), sent: id, isFound: false),
        Row(type: "Boolean", stored: true, sent: true, isFound: true),
        Row(type: "Int", stored: 1, sent: .long(1), isFound: true),
        Row(type: "Int", stored: .long(1), sent: .long(1), isFound: true),
        Row(type: "Int", stored: 1.0, sent: .long(1), isFound: true),
        Row(type: "Int", stored: true, sent: .long(1), isFound: false),
        Row(type: "Int @db.Int", stored: .long(5), sent: 5, isFound: true),
        Row(type: "Int @db.Int", stored: 5.0, sent: 5, isFound: true),
        Row(type: "Int @db.Long", stored: 5, sent: .long(5), isFound: true),
        Row(type: "BigInt", stored: 5, sent: .long(5), isFound: true),
        Row(type: "BigInt", stored: .long(1 << 60 + 1), sent: .long(1 << 60 + 1), isFound: true),
        Row(type: "BigInt", stored: false, sent: .long(0), isFound: false),
        Row(type: "Float", stored: 1, sent: 1.0, isFound: true),
        Row(type: "Float", stored: .long(1), sent: 1.0, isFound: true),
        Row(type: "Float", stored: 1.5, sent: 1.5, isFound: true),
        Row(type: "DateTime", stored: .date(milliseconds: 7_000), sent: .date(milliseconds: 7_000), isFound: true),
        Row(type: "DateTime", stored: second, sent: .date(milliseconds: 7_000), isFound: false),
        Row(type: "DateTime @db.Timestamp", stored: second, sent: second, isFound: true),
        Row(type: "DateTime @db.Timestamp", stored: .timestamp(7 << 32 + 1), sent: second, isFound: false),
        Row(type: "DateTime @db.Timestamp", stored: .date(milliseconds: 7_000), sent: second, isFound: false),
        Row(
            type: "Bytes", stored: .binary(subtype: 0, bytes: bytes), sent: .binary(subtype: 0, bytes: bytes),
            isFound: true),
        Row(
            type: "Bytes", stored: .binary(subtype: 5, bytes: bytes), sent: .binary(subtype: 0, bytes: bytes),
            isFound: false),
        Row(type: "Bytes", stored: asID, sent: .binary(subtype: 0, bytes: bytes), isFound: false),
        Row(type: "Bytes @db.ObjectId", stored: .binary(subtype: 0, bytes: bytes), sent: asID, isFound: false),
        Row(type: "Bytes @db.ObjectId", stored: asID, sent: asID, isFound: true),
        Row(type: "Role", stored: "ADMIN", sent: "ADMIN", isFound: true),
    ]

    /// A value has a finding exactly if the server does not find it by the comparison that the client sends.
    @Test func aFindingIsAValueThatTheServerDoesNotFind() async throws {
        try await Mongod.shared.withBackfill { backfill in
            var models: [String] = []
            for (index, row) in Self.rows.enumerated() {
                let (type, native) = (row.type.prefix { $0 != " " }, row.type.drop { $0 != " " })
                models.append("model S\(index) {\n id Int @id @map(\"_id\")\n x \(row.type)\n}")
                models.append("model L\(index) {\n id Int @id @map(\"_id\")\n x \(type)[]\(native)\n}")
                models.append(
                    "model C\(index) {\n id Int @id @map(\"_id\")\n x T\(index)\n}\ntype T\(index) {\n y \(row.type)\n}"
                )
                try await backfill.database.fill("S\(index)", [["_id": 1, "x": row.stored]])
                try await backfill.database.fill("L\(index)", [["_id": 1, "x": .array(of: [row.stored])]])
                try await backfill.database.fill("C\(index)", [["_id": 1, "x": ["y": row.stored]]])
            }
            let findings = try await Self.check(
                models.joined(separator: "\n") + "\nenum Role {\n ADMIN\n}", in: backfill)
            for (index, row) in Self.rows.enumerated() {
                let comparisons: [(String, BSONDocument)] = [
                    ("S\(index)", ["$expr": ["$eq": ["$x", row.sent]]]),
                    ("L\(index)", ["$expr": ["$in": [row.sent, "$x"]]]),
                    ("C\(index)", ["$expr": ["$eq": ["$x.y", row.sent]]]),
                ]
                for (collection, filter) in comparisons {
                    let isFound = try await backfill.database.count(collection, filter) == 1
                    #expect(isFound == row.isFound, "\(row) \(collection)")
                    let rules = findings.filter { $0.collection == collection }.map(\.rule)
                    #expect(rules == (isFound ? [] : ["stored-type"]), "\(row) \(collection)")
                }
            }
        }
    }

    // MARK: public reports

    private static let blog = """
        model User {
          id String @id @default(auto()) @map("_id") @db.ObjectId
          name String
          tagIDs String[] @db.ObjectId
          posts Post[]
        }
        model Post {
          id String @id @default(auto()) @map("_id") @db.ObjectId
          authorId String @db.ObjectId
          author User @relation(fields: [authorId], references: [id])
        }
        """

    private static func number(_ number: UInt32) -> BSONValue { .objectID(ObjectID(high: 0, low: number)) }
    private static func text(_ number: UInt32) -> BSONValue { .string("\(ObjectID(high: 0, low: number))") }

    /// orm#12608, orm#18489 and studio#897: another program wrote keys as strings.
    @Test func keysThatAreStringsAreConverted() async throws {
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill(
                "User",
                [
                    ["_id": Self.number(1), "name": "a", "tagIDs": [Self.number(7), Self.text(8)]],
                    ["_id": Self.number(2), "name": "b", "tagIDs": []],
                ])
            try await backfill.database.fill(
                "Post",
                [
                    ["_id": Self.number(1), "authorId": Self.number(1)],
                    ["_id": Self.number(2), "authorId": Self.text(1)],
                    ["_id": Self.number(3), "authorId": "bob"], ["_id": Self.number(4), "authorId": Self.text(2)],
                ])
            let before = try await Self.run(["check"], Self.blog, in: backfill)
            #expect(before.exitCode == 1)
            #expect(
                before.output.hasPrefix("4 documents are read but never found: Post 3, User 1.\n"), "\(before.output)")
            let expected: Set<PrismaFinding> = [
                PrismaFinding(
                    collection: "User", rule: "stored-type", path: "tagIDs[]", level: "certain", ids: [Self.number(1)]),
                PrismaFinding(
                    collection: "Post", rule: "stored-type", path: "authorId", level: "certain",
                    ids: [Self.number(2), Self.number(4)]),
                PrismaFinding(
                    collection: "Post", rule: "malformed-object-id", path: "authorId", level: "certain",
                    ids: [Self.number(3)]),
            ]
            #expect(Set(try await Self.check(Self.blog, in: backfill)) == expected)
            try await Self.repair(Self.blog, in: backfill)
            let after = try await Self.run(["check"], Self.blog, in: backfill)
            #expect(after.output.hasPrefix("1 document is read but never found.\n"), "\(after.output)")
            #expect(try await backfill.database.count("Post", ["authorId": Self.number(1)]) == 2)
            #expect(try await backfill.database.count("User", ["tagIDs": Self.number(8)]) == 1)
            try await backfill.database.run([
                "delete": "Post", "deletes": [["q": ["_id": Self.number(3)], "limit": 1]],
            ])
            let clean = try await Self.run(["check"], Self.blog, in: backfill)
            #expect(clean.exitCode == 0, "\(clean.output)")
            #expect(clean.output.contains("Every document can be read."), "\(clean.output)")
        }
    }

    /// orm#15702: a key was declared without `@db.ObjectId`, and `lint` advises to add it.
    @Test func theAdviceOfLintShowsWhatItMakesUnfindable() async throws {
        let without = Self.blog.replacing("authorId String @db.ObjectId", with: "authorId String")
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill("User", [["_id": Self.number(1), "name": "a", "tagIDs": []]])
            try await backfill.database.fill("Post", [["_id": Self.number(1), "authorId": Self.text(1)]])
            #expect(try await Self.check(without, in: backfill) == [])
            let check = try await Self.run(["check"], Self.blog, in: backfill)
            #expect(check.output.hasPrefix("1 document is read but never found.\n"), "\(check.output)")
            try await Self.repair(Self.blog, in: backfill)
            #expect(try await Self.check(Self.blog, in: backfill) == [])
            // The clients of the schema without the native type look for a string, and now find none.
            #expect(try await Self.check(without, in: backfill).map(\.rule) == ["stored-type"])
        }
    }

    /// orm#22388 and orm#24164: some `_id`s are a cuid or a UUID as text, under `@id @db.ObjectId`.
    @Test func idsThatAreTextsAreNamedAndNotConverted() async throws {
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill(
                "User",
                [
                    ["_id": Self.number(1), "name": "a"], ["_id": Self.text(2), "name": "b"],
                    ["_id": "ckopqwooh000001la8mbi2im9", "name": "c"],
                    ["_id": "a8098c1a-f86e-11da-bd1a-00112444be1e", "name": "d"],
                ])
            try await backfill.database.run(["create": "Post"])
            #expect(
                Set(try await Self.check(Self.blog, in: backfill)) == [
                    PrismaFinding(
                        collection: "User", rule: "stored-type", path: "_id", level: "certain", ids: [Self.text(2)]),
                    PrismaFinding(
                        collection: "User", rule: "malformed-object-id", path: "_id", level: "certain",
                        ids: ["ckopqwooh000001la8mbi2im9", "a8098c1a-f86e-11da-bd1a-00112444be1e"]),
                ])
            let plan = try await Self.run(["plan"], Self.blog, in: backfill)
            #expect(plan.output.contains("an _id cannot be changed in place"), "\(plan.output)\(plan.errors)")
        }
    }

    /// A document that makes `findMany()` fail is counted once, apart from those that are only never found.
    @Test func theHeadlineCountsEachDocumentOnce() async throws {
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill(
                "User",
                [
                    ["_id": Self.number(1), "name": 1, "tagIDs": [Self.text(1)]],
                    ["_id": Self.number(2), "name": "b", "tagIDs": [Self.text(1), "x"]],
                    ["_id": Self.number(3), "name": "c", "tagIDs": [Self.text(1)]],
                ])
            try await backfill.database.run(["create": "Post"])
            let check = try await Self.run(["check"], Self.blog, in: backfill)
            #expect(
                check.output.hasPrefix(
                    "1 document would make `prisma.user.findMany()` fail, and 2 more are read but never found.\n"),
                "\(check.output)")
            #expect(check.output.contains("1 (33.4%) cannot be read, 2 (66.6%) never found"), "\(check.output)")
        }
    }
}

/// A finding of a check with the `_id`s of its sample.
struct PrismaFinding: Hashable {
    var collection: String
    var rule: String
    var path: String
    var level: String
    var ids: Set<BSONValue>
}

extension PrismaQueryTests {
    static func write(_ schema: String, in backfill: BackfillCase, as name: String = "s.prisma") throws -> String {
        try backfill.write(name, "datasource db {\n  provider = \"mongodb\"\n}\n" + schema)
        return backfill.folder.appending(name).string
    }

    static func run(
        _ command: [String], _ schema: String, in backfill: BackfillCase, _ flags: String..., uri: String? = nil
    ) async throws -> ProgramRun {
        let file = try write(schema, in: backfill)
        return try await Program.run(
            command + [file] + flags
                + ["--uri", uri ?? backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)", "SHIPSHAPE_THREADS=1"])
    }

    /// Returns the findings of a check.
    static func check(_ schema: String, in backfill: BackfillCase, _ flags: [String] = []) async throws
        -> [PrismaFinding]
    {
        let run = try await Self.run(["check", "-o", "json"] + flags, schema, in: backfill)
        #expect(run.exitCode == 0 || run.exitCode == 1, "\(run.errors)")
        let report = try BSONDocument(extendedJSON: run.output)
        return (report["collections"]?.document?.values ?? []).compactMap(\.document).flatMap { collection in
            (collection["groups"]?.document?.values ?? []).compactMap(\.document).map { group in
                PrismaFinding(
                    collection: collection["collection"]?.text ?? "", rule: group["rule"]?.text ?? "",
                    path: group["path"]?.text ?? "", level: group["level"]?.text ?? "",
                    ids: Set(group["sample_ids"]?.document?.values ?? []))
            }
        }
    }

    /// Plans the repair, and runs its jobs.
    static func repair(_ schema: String, in backfill: BackfillCase) async throws {
        let jobs = backfill.folder.appending("jobs")
        let plan = try await run(["plan"], schema, in: backfill, "--out", jobs.string)
        #expect([0, 1].contains(plan.exitCode), "\(plan.output)\(plan.errors)")
        let files = PlanCase.files(in: jobs)
        #expect(!files.isEmpty)
        for file in files {
            let job = try await Program.run([
                "backfill", jobs.appending(file).string, "--yes", "--reviewed", "--uri", backfill.uri,
                "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)", "SHIPSHAPE_LEASE_TTL=20s",
            ])
            #expect([0, 1].contains(job.exitCode), "\(job.output)\(job.errors)")
        }
    }
}
