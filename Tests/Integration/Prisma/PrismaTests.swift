import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the newer client can read every document after the jobs that lead from one Prisma schema to the next.
@Suite struct PrismaTests {
    @Test(arguments: PrismaCase.names) func theJobsMakeEveryDocumentReadable(_ name: String) async throws {
        try await PrismaCase.with(name) { prisma in
            let before = try await prisma.run("check", prisma.new)
            #expect(before.exitCode == 1, "\(before.output)\(before.errors)")
            #expect(before.output.contains("would make queries fail: "), "\(before.output)")
            Self.expectNoWordOfSync(before)

            let diff = try await prisma.run("diff", prisma.old, prisma.new)
            #expect(diff.exitCode == 1, "\(diff.output)\(diff.errors)")
            Self.expectNoWordOfSync(diff)

            let planned = try await prisma.plan()
            #expect(planned.exitCode == 0, "\(planned.output)\(planned.errors)")
            Self.expectNoWordOfSync(planned)
            for text in try PlanCase.texts(below: prisma.jobs).values { #expect(!text.contains("sync"), "\(text)") }

            try await prisma.runJobs(prisma.jobs)
            let old = try await prisma.run("check", prisma.old, "--fail-on", "any")
            // The clients of the older schema of the blog still read every document.
            #expect(name != "blog" || !old.output.contains("would make"), "\(old.output)")
            try await prisma.runJobs(prisma.jobs.appending("after-deploy"), "--deployed")
            // Values of another type in fields that do not change are read, but never found: a repair converts them.
            let repair = prisma.backfill.folder.appending("repair")
            _ = try await prisma.run("plan", prisma.new, "--out", repair.string)
            try await prisma.runJobs(repair)
            let after = try await prisma.run("check", prisma.new)
            #expect(after.exitCode == 0, "\(after.output)\(after.errors)")
            #expect(after.output.contains("Every document can be read."))
        }
    }

    private static func expectNoWordOfSync(_ run: ProgramRun) {
        for word in ["sync", "ledger", "headroom", "100,000", "limit "] {
            #expect(!run.output.lowercased().contains(word), "\(word): \(run.output)")
        }
    }

    /// Clients of the older schema can read every document that they could read before the first jobs ran.
    ///
    /// The first jobs are those that run before the newer schema is deployed.
    @Test(arguments: PrismaCase.names) func theJobsBeforeTheDeployBreakNoOlderClient(_ name: String) async throws {
        try await PrismaCase.with(name) { prisma in
            func failing() async throws -> Set<String> {
                let file = prisma.backfill.folder.appending("failing.jsonl").string
                _ = try await prisma.run("check", prisma.old, "--failures", file, "SHIPSHAPE_THREADS=1")
                let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
                // The part of a line before the verdict names the document; a job may repair some of its violations.
                let failing = lines.filter { $0.contains("\"verdict\":\"certain\"") }
                return Set(failing.map { $0.components(separatedBy: ",\"verdict\"")[0] })
            }
            let before = try await failing()
            _ = try await prisma.plan()
            try await prisma.runJobs(prisma.jobs)
            #expect(try await failing().subtracting(before) == [])
        }
    }

    @Test func aProposedSchemaReadsEveryDocument() async throws {
        for name in PrismaCase.names {
            try await PrismaCase.with(name) { prisma in
                let file = prisma.backfill.folder.appending("schema.prisma").string
                let inferred = try await prisma.run("schema", "infer", "--as", "prisma", "--out", file)
                #expect(inferred.exitCode == 0, "\(inferred.output)\(inferred.errors)")
                let check = try await prisma.run("check", file)
                // A field with both strings and ObjectIds, or dates and timestamps, is read, but not always found.
                #expect(!check.output.contains("would make"), "\(check.output)\(check.errors)")
                let lint = try await Program.run(["lint", file, "SHIPSHAPE_DATABASE=app"])
                #expect(lint.exitCode == 0, "\(lint.output)\(lint.errors)")
            }
        }
    }

    /// The server finds the documents of each group of findings with the filter that the check shows for the group.
    @Test func theServerFindsTheDocumentsOfEachGroup() async throws {
        try await Mongod.shared.withBackfill { backfill in
            let values: [BSONValue] = [
                1.5, .double(.nan), .double(.infinity), .long(1 << 60 + 1), 1e300, "x", "A", "b", true, nil, [], [nil],
                ["A"], [1], [[1]], [:], ["n": 1], ["n": nil], [["n": 1]], [["n": "x"], nil], .decimal(Decimal128(0)),
                .objectID(ObjectID(high: 1, low: 2)), .timestamp(1), .binary(subtype: 0, bytes: []),
            ]
            let fields = [
                "i Int", "b BigInt", "f Float", "s String", "o Boolean", "e E", "m E[]", "l Int[]", "t T", "u T[]",
                "d DateTime", "y Bytes", "j Json", "k Json[]", "z Int @default(1)", "q Int?",
            ]
            try await backfill.database.fill(
                "M",
                values.enumerated().map { index, value in
                    BSONDocument(
                        [("_id", .int(Int32(index)))] + fields.map { (String($0.prefix(1)), value) })
                } + [["_id": 1000]])
            let file = backfill.folder.appending("s.prisma").string
            try backfill.write(
                "s.prisma",
                """
                datasource db {
                  provider = "mongodb"
                }
                model M {
                  id Int @id @map("_id")
                  \(fields.joined(separator: "\n"))
                }
                type T {
                  n Int
                }
                enum E {
                  A
                  B @map("b")
                }
                """)
            let run = try await Program.run([
                "check", file, "--info", "--count-groups", "-o", "json", "--uri", backfill.uri,
                "SHIPSHAPE_DATABASE=\(backfill.database.name)",
            ])
            #expect(run.exitCode == 1, "\(run.errors)")
            let report = try BSONDocument(extendedJSON: run.output)
            let groups = report["collections"]?.document?.values.first?.document?["groups"]?.document?.values ?? []
            #expect(groups.count > 100)
            for group in groups.compactMap(\.document) {
                #expect(group["filter_documents"] == group["documents"], "\(group)")
                #expect(group["filter_is_exact"] == true, "\(group)")
            }
            let codes = Set(groups.compactMap { $0.document?["vendor_code"]?.text })
            #expect(codes == ["P2023", "P2032"])
        }
    }

    @Test func thePrefilterLeavesOutOnlyDocumentsThatCanBeRead() async throws {
        try await PrismaCase.with("shop") { prisma in
            let plain = try await prisma.run("check", prisma.new, "-o", "json")
            let filtered = try await prisma.run("check", prisma.new, "-o", "json", "SHIPSHAPE_PREFILTER=true")
            func groups(_ run: ProgramRun) throws -> [BSONValue] {
                let report = try BSONDocument(extendedJSON: run.output)
                return report["collections"]?.document?.values.compactMap { $0.document?["groups"] } ?? []
            }
            #expect(try groups(filtered) == groups(plain))
        }
    }
}
