import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the evidence that a check gives: the failures file, `--count-groups`, and which `_id`s and values it shows.
@Suite struct CheckEvidenceTests {
    private func withPeople(
        _ body: (TestDatabase, CommandLineFolder, (@escaping ([String]) async throws -> ProgramRun)) async throws ->
            Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 3_000) { number in
                ["_id": .integer(number), "name": number % 3 == 0 ? .string("secret-\(number)") : .integer(4_711_000)]
            }
            try await database.fill("person", [["_id": 770_077_007, "name": "x", "tags": [1, "secret", 2]]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod)
            try await body(database, folder) { try await Program.run(arguments + $0, in: folder.path) }
        }
    }

    @Test func theFileHoldsEveryFailingDocumentOnce() async throws {
        try await withPeople { database, folder, check in
            try folder.write("what was there", to: "f.jsonl")
            let run = try await check(["--failures", "f.jsonl", "SHIPSHAPE_THREADS=4"])
            #expect(run.exitCode == 1)
            let lines = try (folder.text(of: "f.jsonl") ?? "").split(separator: "\n").map {
                try BSONDocument(extendedJSON: String($0))
            }
            #expect(lines.first?["record"] == "header")
            #expect(lines.last?["record"] == "result")
            #expect(lines.last?["certain"] == 2_001)
            let failures = lines.dropFirst().dropLast()
            #expect(failures.allSatisfy { $0["record"] == "failure" && $0["database"] == .string(database.name) })
            let ids = Set(failures.compactMap { $0["_id"]?.integer })
            #expect(failures.count == 2_001)
            #expect(ids == Set((0..<3_000).filter { $0 % 3 != 0 } + [770_077_007]))
            let tags = failures.first { $0["_id"] == 770_077_007 }
            // The two numbers in `tags` fail in the same way, so the file lists one violation for both.
            #expect(
                tags?["violations"] == [
                    [
                        "path": "tags[]", "rule": "array-item-type", "vendor_code": "invalid_type",
                        "level": "certain", "outcome": nil, "expected": "string", "found": "int",
                    ]
                ])
            #expect(folder.names.contains("f.jsonl.partial") == false)
        }
    }

    @Test func aFileThatCannotBeWrittenIsReportedBeforeTheScan() async throws {
        try await withPeople { _, folder, check in
            let run = try await check(["--failures", "nowhere/f.jsonl"])
            #expect(run.exitCode == 73)
            #expect(run.errors.contains("cannot write the failures file nowhere/f.jsonl"))
            #expect(run.output == "")
        }
    }

    /// The check writes to a device file such as `/dev/full` directly, and does not replace it by a new file.
    @Test func aFullDiskEndsTheCheck() async throws {
        try await withPeople { _, folder, check in
            let run = try await check(["--failures", "/dev/full"])
            #expect(run.exitCode == 73, "\(run.errors)")
            #expect(run.errors.contains(": No space left on device"), "\(run.errors)")
            #expect(try FilePath("/dev/full").stat().type == .characterSpecial)
        }
    }

    @Test func valuesAreShownOnlyWhenAskedFor() async throws {
        try await withPeople { _, folder, check in
            for (arguments, isShown) in [([], false), (["--show-values"], true)] {
                for form in ["text", "json"] {
                    let run = try await check(arguments + ["--failures", "f.jsonl", "--output", form, "--info"])
                    let file = folder.text(of: "f.jsonl") ?? ""
                    #expect(run.output.contains("4711000") == isShown, "\(run.output)")
                    #expect(file.contains("4711000") == isShown)
                    // The value of a field that fits the schema is never shown.
                    #expect(!(run.output + file + run.errors).contains("secret"))
                }
            }
            #expect(folder.text(of: "f.jsonl")?.contains(#""found":"int","value":"4711000""#) == true)
        }
    }

    @Test func idsCanBeHashedOrLeftOut() async throws {
        try await withPeople { database, folder, check in
            var hashes: Set<String> = []
            for (display, isShown) in [("show", true), ("hash", false), ("none", false), ("hash", false)] {
                for form in ["text", "json"] {
                    let run = try await check(["--failures", "f.jsonl", "--output", form, "SHIPSHAPE_IDS=\(display)"])
                    let file = folder.text(of: "f.jsonl") ?? ""
                    #expect((run.output + file).contains("770077007") == isShown, "\(display) \(form)")
                    if display == "hash" { hashes.insert(String(file.split(separator: "\n")[1])) }
                }
            }
            // Without a hash key from the operator, every run hashes the `_id`s differently, so no two runs can be
            // compared.
            #expect(hashes.count == 4)
        }
    }

    @Test func anIDIsNoValueThatMayBeShown() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": "ada@example.net", "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod)
            for display in ["none", "hash"] {
                let run = try await Program.run(
                    arguments + ["SHIPSHAPE_IDS=\(display)", "--show-values", "--failures", "f.jsonl"], in: folder.path)
                #expect(run.exitCode == 1)
                #expect(!(run.output + (folder.text(of: "f.jsonl") ?? "")).contains("ada@"), "\(run.output)")
            }
        }
    }

    @Test func proofsCompareTheServersCountsWithTheScans() async throws {
        try await withPeople { _, _, check in
            let run = try await check(["--count-groups"])
            let lines = run.output.split(separator: "\n")
            #expect(lines.count { $0.contains("proven: the server finds the same number") } == 2)
            #expect(try await check(["--count-groups", "--source", "dump"]).exitCode == 64)
        }
    }
}
