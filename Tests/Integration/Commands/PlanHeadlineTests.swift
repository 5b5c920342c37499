import BSON
import TestSupport
import Testing

/// Tests that the first line of `plan SCHEMA` counts each document once, and that its numbers add up.
@Suite struct PlanHeadlineTests {
    private static let sizes = ["S", "M", "L"]

    /// Returns 300 documents: 40 fail in one way, 10 in two, and some of both kinds cannot be repaired by a step.
    private static var documents: [BSONDocument] {
        (0..<300).map { number in
            let age: BSONValue? =
                switch number {
                case 0..<20: .string("\(number)")
                case 20..<24: "3.5"
                case 24..<26: "99999999999"
                case 26: "old"
                case 40..<50: nil
                default: .integer(number)
                }
            let size: BSONValue = (15..<25).contains(number) || (60..<67).contains(number) ? "HUGE" : "S"
            return BSONDocument(
                [("_id", .integer(number)), ("size", size)] + (age.map { [("age", $0)] } ?? []))
        }
    }

    private static func fails(_ document: BSONDocument) -> Bool {
        guard case .int? = document["age"], let size = document["size"]?.text else { return true }
        return !sizes.contains(size)
    }

    @Test func eachDocumentCountsOnce() async throws {
        try await PlanOfSizes.with(["T": Self.documents]) { subject in
            let failing = Self.documents.count(where: Self.fails)
            let run = try await subject.plan()
            #expect(run.exitCode == 1, "\(run.errors)")
            // Among the 44 documents, 5 with a number as text, and 7 others, have a size that no step replaces.
            let first = """
                1 job repairs 25 of 44 documents. Left for you: 12 documents with 1 finding to decide on (1 with a \
                suggested step), 7 documents that no step can change (rounded: 4; out of range: 2; not a number, date \
                or id: 1), 1 step to review.
                """
            #expect(run.output.hasPrefix("\(first)\n"), "\(run.output)")
            #expect(failing == 44)

            let done = try await subject.run()
            #expect(done.exitCode == 1, "\(done.errors)")
            let left = try await subject.backfill.database.documents("T").count(where: Self.fails)
            #expect(failing - left == 25)
        }
    }

    @Test func theJobsOfAllCollectionsCountTogether() async throws {
        let texts = (0..<3).map { BSONDocument([("_id", .integer($0)), ("age", "7")]) }
        let sizes = (0..<4).map { BSONDocument([("_id", .integer($0)), ("age", 7), ("size", "XL")]) }
        try await PlanOfSizes.with(["A": texts, "B": texts + [["_id": 9]], "C": sizes]) { subject in
            let run = try await subject.plan()
            let first = """
                2 jobs repair 7 of 11 documents. Left for you: 4 documents with 1 finding to decide on (1 with a \
                suggested step), 1 step to review.
                """
            #expect(run.output.hasPrefix("\(first)\n"), "\(run.output)\(run.errors)")
        }
    }

    /// A document fails because its `_id` equals another one as text, so no judgement of single documents is exact.
    @Test func ofTwoEqualTextsOneArrivesAndNoWrongNumberIsSaid() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("p", [["_id": 42], ["_id": "42"], ["_id": 0], ["_id": "a", "x": .double(.nan)]])
            let here = [
                "--engine", "powersync", "--collection", "\(database.name).p", "--uri", try await Mongod.shared.uri,
            ]
            let check = try await Program.run(["check"] + here)
            #expect(check.output.contains("2 documents never arrive in PowerSync"), "\(check.output)")
            let plan = try await Program.run(["plan"] + here)
            #expect(
                plan.errors.hasPrefix(
                    "1 job: 3 documents fail now. Left for you: 3 findings to decide on, 1 step to review."),
                "\(plan.errors)")
        }
    }
}
