import BSON
import Mongo
import TestSupport
import Testing

/// Tests that each job of `jobs/examples` gives the expected documents, and that a second run changes nothing.
@Suite struct ReadyJobsTests {
    @Test(arguments: cases) func doesWhatItSays(_ example: ReadyJobCase) async throws {
        try await Mongod.shared.withBackfill { test in
            try test.write("example.yml", try example.text(for: test.database.name))
            for (collection, documents) in example.before {
                try await test.database.fill(collection, try documents.map { try BSONDocument(extendedJSON: $0) })
            }
            let expected = try example.after.map { try BSONDocument(extendedJSON: $0) }
            let collection = try #require(example.before.first?.collection)
            let run = try await test.backfill("example")
            if ["extract", "every-key"].contains(example.name), try await !Mongod.build.isAtLeast(5) {
                #expect(run.exitCode == 65, "\(run.errors)")
                return
            }
            #expect(run.exitCode == example.exitCode, "\(run.errors)")
            #expect(try await test.database.documents(collection) == expected)
            let again = try await test.backfill("example")
            #expect(again.exitCode == example.exitCode, "\(again.errors)")
            #expect(try await test.database.documents(collection) == expected)
        }
    }

    @Test func everyExampleIsRun() throws {
        #expect(try ReadyJobCase.names == Self.cases.map(\.name).sorted())
    }

    private static let cases =
        [
            ReadyJobCase(
                "every-key",
                before: [
                    (
                        "Person",
                        [
                            #"{"_id": 1, "age": 36, "email": null, "title": "Dr", "level": 3}"#,
                            #"{"_id": 2, "yearsSinceBirth": 5, "email": "a@b.c", "title": "Dr", "level": 1}"#,
                        ]
                    ), ("Dog", [#"{"_id": 1}"#]),
                ],
                after: [
                    #"{"_id": 1, "age": 36, "email": "", "title": "Dr", "level": 3, "yearsSinceBirth": 36, "ageText": "36", "label": "Dr 3"}"#,
                    #"{"_id": 2, "yearsSinceBirth": 5, "email": "a@b.c", "title": "Dr", "level": 1, "label": "Dr 1"}"#,
                ]),
            ReadyJobCase(
                "default",
                before: [
                    #"{"_id": 1, "email": null, "settings": {"isActive": false}}"#, #"{"_id": 2, "settings": {}}"#,
                    #"{"_id": 3, "email": "a@b.c", "settings": 4}"#,
                ],
                after: [
                    #"{"_id": 1, "email": "", "settings": {"isActive": false}}"#,
                    #"{"_id": 2, "settings": {"isActive": true}, "email": ""}"#,
                    #"{"_id": 3, "email": "a@b.c", "settings": 4}"#,
                ], exitCode: 1),
            ReadyJobCase(
                "copy",
                before: [#"{"_id": 1, "age": 36}"#, #"{"_id": 2, "age": 5, "yearsSinceBirth": 6}"#, #"{"_id": 3}"#],
                after: [
                    #"{"_id": 1, "age": 36, "yearsSinceBirth": 36}"#, #"{"_id": 2, "age": 5, "yearsSinceBirth": 6}"#,
                    #"{"_id": 3}"#,
                ], exitCode: 1),
            ReadyJobCase(
                "convert",
                before: [
                    #"{"_id": 1, "age": 36, "zip": "12345"}"#, #"{"_id": 2, "age": null, "zip": "D-123"}"#,
                ],
                after: [
                    #"{"_id": 1, "age": 36, "zip": 12345, "ageText": "36"}"#,
                    #"{"_id": 2, "age": null, "zip": "D-123"}"#,
                ], exitCode: 1),
        ]
        + StepsReadyJobs.cases + ClientReadyJobs.cases
}
