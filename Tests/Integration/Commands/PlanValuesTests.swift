import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests which distinct values `plan SCHEMA` finds, names and puts into the step that it suggests.
@Suite struct PlanValuesTests {
    private static func documents(_ sizes: [BSONValue]) -> [BSONDocument] {
        sizes.enumerated().map { ["_id": .integer($0), "age": 1, "size": $1] }
    }

    private static let sizes = documents(["HUGE", "HUGE", " s", "S", "m", "L", "HUGE", "m"])

    @Test func valuesAreCountedAndOnlyTheSchemasOwnAreNamed() async throws {
        try await PlanOfSizes.with(["T": Self.sizes]) { subject in
            let run = try await subject.plan("--output", "json")
            let text = try run.output + PlanCase.texts(below: subject.jobs).values.joined()
            #expect(text.contains("3 distinct values\n"), "\(text)")
            let map = #"[{from: "m", to: "M"}, {from: " s", to: "S"}, {from: OLD VALUE, to: NEW VALUE}]"#
            #expect(text.contains("map: {field: size, values: \(map), unmapped: keep}"), "\(text)")
            #expect(!text.contains("HUGE"), "\(text)")
        }
    }

    @Test func valuesAreNamedIfTheUserWantsToSeeThem() async throws {
        try await PlanOfSizes.with(["T": Self.sizes]) { subject in
            let run = try await subject.plan("--show-values")
            #expect(
                run.output.contains(#"3 distinct values: "HUGE" (3), "m" (2), " s" (1)"#), "\(run.output)")
            let map = #"[{from: "HUGE", to: NEW VALUE}, {from: "m", to: "M"}, {from: " s", to: "S"}]"#
            #expect(run.output.contains("suggested: map: {field: size, values: \(map), unmapped: keep}"))

            // The user removes the comment marks of the draft, and says what a huge size becomes.
            let file = try #require(PlanCase.files(in: subject.jobs).first)
            let path = subject.jobs.appending(file).string
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                let marks = line.prefix { " " == $0 } + line.drop { " " == $0 }.dropFirst(2)
                return line.drop { " " == $0 }.hasPrefix("# ") && !line.contains("##") ? String(marks) : String(line)
            }
            let start = try #require(lines.firstIndex { $0.hasPrefix("job: ") })
            try lines[start...].joined(separator: "\n").replacing("NEW VALUE", with: "L").write(
                toFile: path, atomically: true, encoding: .utf8)
            let done = try await subject.run()
            #expect(done.exitCode == 0, "\(done.output)\(done.errors)")
            let after = try await subject.backfill.database.documents("T").map { $0["size"]?.text }
            #expect(after == ["L", "L", "S", "S", "M", "L", "L", "M"])
        }
    }

    @Test func atMostTwelveValuesAreNamed() async throws {
        let many = (1...15).flatMap { number in Array(repeating: BSONValue.string("x\(number)"), count: number) }
        try await PlanOfSizes.with(["T": Self.documents(many)]) { subject in
            let run = try await subject.plan("--show-values")
            #expect(run.output.contains("15 distinct values: \"x15\" (15), "), "\(run.output)")
            #expect(run.output.contains("\"x4\" (4) and 3 others"), "\(run.output)")
            #expect(!run.output.contains("\"x3\""), "\(run.output)")
            let file = try PlanCase.texts(below: subject.jobs).values.joined()
            #expect(file.contains(#"{from: "x4", to: NEW VALUE}, {from: OLD VALUE, to: NEW VALUE}]"#), "\(file)")
        }
    }

    @Test func onlyTheBadElementsOfAListCount() async throws {
        let documents: [BSONDocument] = [
            ["_id": 1, "age": 1, "tags": ["S", "s ", "XL"]], ["_id": 2, "age": 1, "tags": ["XL", "L"]],
            ["_id": 3, "age": 1, "tags": ["M"]],
        ]
        try await PlanOfSizes.with(["T": documents]) { subject in
            let run = try await subject.plan("--show-values")
            #expect(run.output.contains(#"2 distinct values: "XL" (2), "s " (1)"#), "\(run.output)")
        }
    }

    @Test func textsInPlaceOfNumbersAreCounted() async throws {
        let documents = ["7", "7", "8", "zzz"].enumerated().map { number, age in
            BSONDocument([("_id", .integer(number)), ("age", .string(age))])
        }
        try await PlanOfSizes.with(["T": documents]) { subject in
            let hidden = try await subject.plan()
            #expect(hidden.output.contains("3 distinct values"), "\(hidden.output)")
            #expect(!hidden.output.contains("zzz"), "\(hidden.output)")
            let shown = try await subject.plan("--show-values")
            #expect(shown.output.contains(#"3 distinct values: "7" (2), "8" (1), "zzz" (1)"#))
        }
    }
}
