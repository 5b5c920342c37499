import BSON
import TestSupport
import Testing

/// Tests documents whose fields have the same names as the fields that the journal's query uses.
@Suite struct JournalNamesTests {
    @Test(arguments: ["a", "b", "i"], [[1], [:], ["email": 5]] as [BSONValue])
    func aDocumentIsJournaledAndWrittenWhateverItsFieldsAreCalled(_ name: String, _ value: BSONValue) async throws {
        try await Mongod.shared.withBackfill { test in
            let document: BSONDocument = ["_id": 1, name: value]
            try await test.database.fill("people", [document])
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people") == [document.appending("email", "")])
            #expect(try await test.state.documents("journal", ["count": ["$exists": true]]).map { $0["count"] } == [1])
        }
    }
}
