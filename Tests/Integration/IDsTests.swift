import BSON
import SystemPackage
import TestSupport
import Testing

/// `backfill --ids` runs over the documents of a list, and over no other.
@Suite struct IDsTests {
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 1_000)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            try await body(test)
        }
    }

    private func changed(_ test: BackfillCase) async throws -> [BSONValue?] {
        try await test.database.documents("people", ["email": ""]).map { $0["_id"] }
    }

    @Test func onlyTheDocumentsOfTheListAreChanged() async throws {
        try await withPeople { test in
            let ids = (0..<450).map { $0 * 2 }
            try test.write("ids.jsonl", ids.map(String.init).joined(separator: "\n") + "\n\"gone\"\n")
            let run = try await test.backfill("job", "--ids", test.folder.appending("ids.jsonl").string)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("changed 450 of 450 documents"))
            #expect(try await changed(test) == ids.map { .integer($0) })
            // The whole job comes to the others.
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await changed(test).count == 1_000)
            #expect(try await test.status()["state"] == "done")
        }
    }

    @Test func aJobThatWasDoneStaysDone() async throws {
        try await withPeople { test in
            try await test.backfill()
            try await test.database.fill("people", [["_id": "a"], ["_id": "b"]])
            try test.write("ids.jsonl", #"{"_id": "a"}"#)
            let run = try await test.backfill("job", "--ids", test.folder.appending("ids.jsonl").string)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people", ["_id": "a"]) == [["_id": "a", "email": ""]])
            #expect(try await test.database.documents("people", ["_id": "b"]) == [["_id": "b"]])
            #expect(try await test.status()["state"] == "done")
        }
    }

    @Test func aListOfAnotherFormIsRefusedWithItsLine() async throws {
        try await withPeople { test in
            try test.write("ids.jsonl", "1\nid 2\n")
            let run = try await test.backfill("job", "--ids", test.folder.appending("ids.jsonl").string)
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("ids.jsonl:2:1: not a line of extended JSON"))
            #expect(try await changed(test) == [])
        }
    }
}
