import BSON
import Checking
import TestSupport
import Testing

/// Tests `check --part` and `check --join`.
///
/// The parts together contain every document once. The merged report equals the report of a check without parts, except
/// for its times and its value `missing_guarantees`.
@Suite struct CheckPartsTests {
    private static let old = CheckVerdictCase.schema("Pet", id: "mixed", ["name!": "string"])
    private static let new = CheckVerdictCase.schema("Pet", id: "mixed", ["name!": "string", "age!": "int"])

    private func withPets(_ documents: [BSONDocument], _ body: (CheckVerdictCase) async throws -> Void) async throws {
        try await CheckVerdictCase.with { test in
            try await test.database.fill("Pet", documents)
            try test.write("v1", ["Pet": Self.old])
            try test.write("v2", ["Pet": Self.new])
            try await body(test)
        }
    }

    /// Returns a JSON report without the duration, the cluster time and `missing_guarantees`, which may differ between
    /// runs.
    private func essence(_ text: String) throws -> JSONValue {
        func reduced(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let members):
                .object(
                    members.filter { !["duration_ms", "cluster_time", "missing_guarantees"].contains($0.key) }
                        .mapValues(reduced))
            case .array(let elements): .array(elements.map(reduced))
            default: value
            }
        }
        return reduced(try JSONValue(text))
    }

    @Test func joinedReportsAreThoseOfTheWholeCheck() async throws {
        let documents: [BSONDocument] = (0..<300).map { number in
            switch number % 4 {
            case 0: ["_id": .integer(number), "name": "a", "age": .integer(number)]
            case 1: ["_id": .integer(number), "name": "a"]
            case 2: ["_id": .integer(number), "name": .integer(number), "age": "old"]
            default: ["_id": .integer(number), "name": "a", "age": .long(7)]
            }
        }
        try await withPets(documents) { test in
            for flags in [[], ["--strict"], ["--fail-on", "breaking"]] {
                let parts = try await (1...3).asyncMap { number in
                    let run = try await test.check(["--part", "\(number)/3", "--report", "part\(number).json"] + flags)
                    #expect(
                        run.output.contains("Only part \(number)/3 of the documents was read"),
                        "\(run.output)\(run.errors)")
                    return try JSONValue(try #require(test.folder.text(of: "part\(number).json")))
                }
                let read = parts.map { $0["collections"]?.elements.first?["documents_read"] }
                #expect(read.allSatisfy { $0 != .number(0) && $0 != .number(300) }, "\(read)")
                let whole = try await test.check(["-o", "json"] + flags)
                let merge = ["check", "--join", "part3.json", "part1.json", "part2.json"]
                let merged = try await Program.run(merge + ["-o", "json"], in: test.folder.path)
                #expect(try essence(merged.output) == essence(whole.output))
                #expect(merged.exitCode == whole.exitCode, "\(flags) \(merged.errors)")
                let (text, wholeText) = (
                    try await Program.run(merge, in: test.folder.path), try await test.check(flags)
                )
                #expect(text.output.split(separator: "\n").first == wholeText.output.split(separator: "\n").first)
            }
        }
    }

    @Test func idsOfEveryTypeAreInOnePart() async throws {
        let documents: [BSONDocument] = CheckScanTests.mixedIDs.map { ["_id": $0, "name": 5] }
        try await withPets(documents) { test in
            var seen: [JSONValue] = []
            for number in 1...4 {
                let run = try await test.check(["--part", "\(number)/4", "--failures", "failing.jsonl"], active: false)
                #expect(run.exitCode == 1, "\(run.errors)")
                seen += try failing(test)
            }
            _ = try await test.check(["--failures", "failing.jsonl"], active: false)
            let all = try failing(test)
            #expect(all.count == CheckScanTests.mixedIDs.count)
            func counts(_ ids: [JSONValue]) -> [JSONValue: Int] { Dictionary(ids.map { ($0, 1) }, uniquingKeysWith: +) }
            #expect(counts(seen) == counts(all))
        }
    }

    /// The server examines few documents outside of the part that is checked.
    @Test func eachPartReadsItsShareAlone() async throws {
        let documents: [BSONDocument] = (0..<4_000).map { ["_id": .integer($0), "name": "a"] }
        try await withPets(documents) { test in
            try await test.database.run(["profile": 2])
            var read = 0
            for number in 1...4 {
                let run = try await test.check(["--part", "\(number)/4", "-o", "json"], active: false)
                #expect(run.exitCode == 1, "\(run.errors)")
                let report = try JSONValue(run.output)
                guard case .number(let count)? = report["collections"]?.elements.first?["documents_read"] else {
                    continue
                }
                // The server draws its sample page by page, whatever the number of documents of a page; the shares of
                // a collection of few pages therefore differ much. A part of 2,041 documents was seen.
                #expect(100...3_000 ~= Int(count), "part \(number) has \(count) documents")
                read += Int(count)
            }
            try await test.database.run(["profile": 0])
            #expect(read == 4_000)
            // The reads of the change stream are left out. They examine the oplog, which has the writes of all tests.
            let reads = try await test.database.documents(
                "system.profile",
                [
                    "command.comment": "shipshape check",
                    "originatingCommand.pipeline.$changeStream": ["$exists": false],
                ])
            let examined = reads.reduce(0) { $0 + ($1["docsExamined"]?.integer ?? 0) }
            // In addition to the 4,000 documents, the server may examine up to 1,000 for the samples from which the
            // check computes the bounds of the parts.
            #expect(4_000...5_000 ~= examined, "\(examined) documents were looked at for four parts of 4,000")
        }
    }

    /// If a collection grows much between the checks of two parts, the second check divides it by other bounds than the
    /// first.
    ///
    /// `check --join` refuses the two reports, because their parts might overlap or leave a gap.
    @Test func partsOfTwoCutsAreNotJoined() async throws {
        try await withPets((0..<300).map { ["_id": .integer($0), "name": "a"] }) { test in
            _ = try await test.check(["--part", "1/2", "--report", "one.json"])
            try await test.database.fill("Pet", count: 4_000) { ["_id": .integer($0 + 1_000), "name": "a"] }
            _ = try await test.check(["--part", "2/2", "--report", "two.json"])
            let merged = try await Program.run(["check", "--join", "one.json", "two.json"], in: test.folder.path)
            #expect(merged.exitCode == 65)
            #expect(merged.errors.contains("the collections were cut again in between"), "\(merged.errors)")
            _ = try await test.check(["--part", "1/2", "--report", "one.json"])
            let again = try await Program.run(
                ["check", "--join", "one.json", "two.json", "-o", "json"], in: test.folder.path)
            #expect(try JSONValue(again.output)["collections"]?.elements.first?["documents_read"] == .number(4_300))
        }
    }

    /// Returns the `_id`s in `failing.jsonl`, the file in which a check lists the failing documents.
    private func failing(_ test: CheckVerdictCase) throws -> [JSONValue] {
        let lines = try #require(test.folder.text(of: "failing.jsonl")).split(separator: "\n")
        return try lines.compactMap { try JSONValue(String($0))["_id"] }
    }

    @Test func reportsThatCannotBeJoinedAreRefused() async throws {
        try await withPets([["_id": 1, "name": "a"]]) { test in
            _ = try await test.check(["--part", "1/2", "--report", "one.json"])
            _ = try await test.check(["--part", "2/2", "--strict", "--report", "strict.json"])
            _ = try await test.check(["--report", "whole.json"])
            try test.folder.write(
                try #require(test.folder.text(of: "one.json")).replacing(
                    "\"schema_version\": 1", with: "\"schema_version\": 9"), to: "later.json")
            try test.folder.write("{}", to: "empty.json")
            for (reports, message) in [
                (["one.json"], "part 2 of 2 is missing: run check --part 2/2"),
                (["one.json", "one.json"], "one.json and one.json are both part 1/2"),
                (["one.json", "strict.json"], "were made with different schemas or flags"),
                (["one.json", "whole.json"], "whole.json is the report of a whole check"),
                (["later.json"], "the report has schema_version 9, but this program reads 1"),
                (["empty.json"], "this is not a report of shipshape check"),
                (["nowhere.json"], "there is no such file or folder"),
            ] {
                let run = try await Program.run(["check", "--join"] + reports, in: test.folder.path)
                #expect(run.exitCode == 65, "\(reports)")
                #expect(run.errors.contains(message), "\(run.errors)")
                #expect(run.output.isEmpty)
            }
            for flags in [["--where", "{}"], ["--sample", "5"], ["--show-values"], ["--source", "dump"]] {
                #expect(try await test.check(["--part", "1/2"] + flags).exitCode == 64, "\(flags)")
            }
            #expect(try await test.check(["--part", "3/2"]).exitCode == 64)
        }
    }
}

extension Sequence {
    /// Returns the results of `body` for all elements, computed one after the other.
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var result: [T] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}
