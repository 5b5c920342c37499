import BSON
import Foundation
import TestSupport
import Testing

/// Tests steps with `whenPresent: refresh`: if old clients change a source field, a later run updates the target.
///
/// The run keeps a target that another client has changed.
@Suite struct RefreshTests {
    private func people(_ test: BackfillCase) async throws -> [BSONDocument] {
        try await test.database.documents("people").sorted { ($0["_id"]?.integer ?? 0) < ($1["_id"]?.integer ?? 0) }
    }

    private func notes(_ report: BSONDocument) -> [String] {
        (report["notes"]?.document?.values ?? []).compactMap(\.text)
    }

    /// Each case has a step, its source fields with an earlier and a later value, and the expected targets for the
    /// earlier and for the later values.
    @Test(
        arguments: [
            (
                "copy: {from: age, to: yearsSinceBirth, whenPresent: refresh}", ["age"], [36], [37],
                ["yearsSinceBirth": [36, 37]]
            ),
            (
                "combine: {into: fullName, template: \"{firstName} {lastName}\", whenPresent: refresh}",
                ["firstName", "lastName"], ["Ada", "L"], ["Ada", "King"], ["fullName": ["Ada L", "Ada King"]]
            ),
            (
                "split: {field: fullName, by: \" \", into: [firstName, lastName], whenPresent: refresh}", ["fullName"],
                ["Ada L"], ["Ida King"], ["firstName": ["Ada", "Ida"], "lastName": ["L", "King"]]
            ),
            (
                "convert: {field: age, to: string, into: ageText, whenPresent: refresh}", ["age"], [36], [37],
                ["ageText": ["36", "37"]]
            ),
        ] as [(String, [String], [BSONValue], [BSONValue], [String: [BSONValue]])])
    func aTargetFollowsItsSourceWhileItIsWhatTheJobWrote(
        _ step: String, _ sources: [String], _ first: [BSONValue], _ second: [BSONValue],
        _ targets: [String: [BSONValue]]
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            let fields = BSONDocument(Array(zip(sources, first)))
            try await test.database.fill("people", count: 30) { id in
                BSONDocument([("_id", .integer(id))] + zip(sources, first).map { ($0, $1) })
            }
            try test.job(steps: [step], limits: "{chunk: {documents: 7}}")
            #expect(try await test.backfill().exitCode == 0)
            let changed = BSONDocument(Array(zip(sources, second)))
            #expect(fields != changed)
            for id in [3, 17] { try await test.database.set("people", .integer(id), changed) }
            // A target that another client changed keeps that value, whatever happens to the source.
            let target = try #require(targets.keys.sorted().first)
            try await test.database.set("people", 5, changed.appending(target, "mine"))

            let dry = try test.report(try await test.backfill(flags: ["--dry-run", "--output", "json"], yes: false))
            let run = try await test.backfill("job", "--output", "json")
            let report = try test.report(run)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(dry["refreshed"] == 2 && report["refreshed"] == 2 && report["changed"] == 2)
            let after = try await people(test)
            for (name, values) in targets {
                for (id, document) in after.enumerated() where id != 5 {
                    #expect(document[name] == values[[3, 17].contains(id) ? 1 : 0], "\(name) of \(id)")
                }
            }
            #expect(after[5][target] == "mine")
            let conflict = try #require(notes(report).first { $0.contains("another client changed") })
            #expect(conflict.contains("_id 5 ") && conflict.contains("\(target) is string"), "\(conflict)")
            // The next run changes nothing. It still reports that another client changed the target in document 5.
            let again = try await test.backfill("job", "--output", "json")
            #expect(again.exitCode == 1)
            #expect(try test.report(again)["outcome"] == "nothing_to_do")
            #expect(try await people(test) == after)
            // Undo removes the targets that the first and the second run wrote, but not the value of another client.
            #expect(try await test.steer("undo", "job", "--yes").exitCode == 1)
            for (id, document) in try await people(test).enumerated() where id != 5 {
                #expect(targets.keys.allSatisfy { document[$0] == nil }, "\(id)")
            }
            #expect(try await people(test)[5][target] == "mine")
        }
    }

    /// A target is refreshed even if it comes after thousands of documents whose targets another client has changed.
    ///
    /// The long `_id`s of these documents fill a whole page of the query that finds the documents to refresh.
    @Test func aTargetAfterManyThatClientsChangedIsRefreshed() async throws {
        try await Mongod.shared.withBackfill { test in
            let ids = (0..<3_500).map { BSONValue.string(String(repeating: "x", count: 1_000) + "\($0)") }
            try await test.database.fill("people", count: ids.count) { ["_id": ids[$0], "age": 36] }
            try test.job(steps: ["copy: {from: age, to: yearsSinceBirth, whenPresent: refresh}"])
            #expect(try await test.backfill().exitCode == 0)
            let last = ids[ids.count - 1]
            let others: BSONValue = [
                "q": ["_id": ["$ne": last]], "u": ["$set": ["yearsSinceBirth": "mine"]], "multi": true,
            ]
            try await test.database.run(["update": "people", "updates": .array(of: [others])])
            try await test.database.set("people", last, ["age": 37])

            let dry = try test.report(try await test.backfill(flags: ["--dry-run", "--output", "json"], yes: false))
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try dry["refreshed"] == 1 && test.report(run)["refreshed"] == 1)
            #expect(try await test.database.documents("people", ["_id": last]).first?["yearsSinceBirth"] == 37)
            #expect(try await test.database.count("people", ["yearsSinceBirth": "mine"]) == ids.count - 1)
        }
    }

    @Test func aFilledDefaultFollowsASourceThatAppears() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "age": 36], ["_id": 2]])
            try test.job(steps: [
                "copy: {from: age, to: yearsSinceBirth, whenPresent: refresh}",
                "default: {field: yearsSinceBirth, value: 0}", "default: {field: email, value: \"\"}",
            ])
            #expect(try await test.backfill().exitCode == 0)
            // Between the two runs, a client adds `age` to document 2, which lacked it, and changes `email`, which the
            // last step had filled.
            try await test.database.set("people", 2, ["age": 7, "email": "ada@example.com"])
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await people(test)[1]["yearsSinceBirth"] == 7)
        }
    }

    @Test func withoutAJournalTheReportSaysWhatCannotBeKnown() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "age": 36]])
            try test.job(steps: ["copy: {from: age, to: yearsSinceBirth, whenPresent: refresh}"])
            #expect(try await test.backfill("job", "--no-journal").exitCode == 0)
            try await test.database.set("people", 1, ["age": 37])
            let run = try await test.backfill("job", "--no-journal", "--output", "json")
            #expect(run.exitCode == 1)
            #expect(notes(try test.report(run)).contains { $0.contains("without a journal it is unknown") })
            #expect(try await people(test)[0]["yearsSinceBirth"] == 36)
        }
    }

    @Test func aCopyThatIsConvertedInPlaceIsNotStale() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 20) { ["_id": .integer($0), "phone": .integer($0)] }
            try test.job(steps: ["copy: {from: phone, to: phoneNumber}", "convert: {field: phoneNumber, to: string}"])
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 0, "\(run.output)")
            #expect(notes(try test.report(run)).allSatisfy { !$0.contains("from its source") })
            try await test.database.set("people", 4, ["phone": 5_000])
            let stale = try await test.backfill("job", "--output", "json")
            #expect(stale.exitCode == 1)
            #expect(notes(try test.report(stale)).contains { $0.contains("1 copied value differs from its source") })
        }
    }

    @Test(arguments: [
        ("copy: {from: nick, to: nickname, when: missingOrNull}", "Ada"),
        ("rename: {from: nick, to: nickname, when: missingOrNull}", "Ada"),
        ("combine: {into: nickname, template: \"{nick}!\", when: missingOrNull}", "Ada!"),
        ("convert: {field: nick, to: string, into: nickname, when: missingOrNull}", "Ada"),
    ])
    func aNullInTheTargetIsNoValue(_ step: String, _ made: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", [["_id": 1, "nick": "Ada", "nickname": nil], ["_id": 2, "nick": nil, "nickname": nil]])
            try test.job(steps: [step, "default: {field: nickname, value: \"\", when: missingOrNull}"])
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await people(test).map { $0["nickname"] } == [.string(made), ""])
            #expect(try test.report(try await test.backfill("job", "--output", "json"))["outcome"] == "nothing_to_do")
            #expect(try await test.steer("undo", "job", "--yes").exitCode == 0)
            #expect(try await people(test).map { $0["nickname"] } == [.null, .null])
        }
    }
}
