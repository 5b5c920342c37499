import BSON
import Foundation
import JobState
import Mongo
import SystemPackage
import TestSupport
import Testing

/// Tests how `shipshape enforce` tightens a validator up to "error", and how `--abort` restores the earlier validator.
@Suite struct EnforceTests {
    @Test func whereEveryDocumentFitsTheServerRefusesWhatDoesNotFromThenOn() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath()
            let run = try await test.enforce("--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("\(test.database.name).people is at error: 0 documents do not fit."))
            #expect(run.output.contains("validationAction: \"warn\" })"))
            #expect(try await test.isEnforced("error"))
            let refused = await #expect(throws: MongoError.self) {
                try await test.database.run(["insert": "people", "documents": [["_id": 100, "name": 5]]])
            }
            #expect(refused?.code == .documentValidationFailure)
        }
    }

    @Test func documentsThatDoNotFitAreAllNamedAndItStopsBeforeError() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath(misfits: 7)
            let file = test.folder.appending("failures.jsonl")
            let run = try await test.enforce("--yes", "--failures", file.string)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.hasPrefix("7 documents do not fit: \(test.database.name).people stays at warn"))
            let named = try String(contentsOfFile: file.string, encoding: .utf8).split(separator: "\n")
            #expect(named.count == 7 + 2, "a head, the documents, and the result")
            #expect(try await test.isEnforced("warn"))
            #expect(try await test.enforce("--yes").exitCode == 1)
            #expect(try await test.isEnforced("warn"))
            for number in 0..<7 {
                try await test.database.run([
                    "update": "people", "updates": [["q": ["_id": .integer(number)], "u": ["$set": ["name": "n"]]]],
                ])
            }
            let rest = try await test.enforce("--yes", "-o", "json")
            #expect(rest.exitCode == 0, "\(rest.errors)")
            let report = try test.report(rest)
            #expect(report["outcome"]?.text == "done")
            #expect(report["stage"]?.text == "error")
            #expect(report["done"]?.document?.values.count == 1)
            #expect(try await test.isEnforced("error"))
        }
    }

    @Test func aDocumentWrittenJustBeforeErrorIsFoundAfterIt() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath()
            let run = try await test.enforce("--yes", fault: "before-write:2:stop") { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                #expect(try await test.isEnforced("warn"))
                try await test.database.fill("people", [["_id": "late", "name": 5]])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("1 document does not fit, though"))
            #expect(run.output.contains("\"late\""))
            #expect(try await test.isEnforced("error"))
            try await test.database.run(["delete": "people", "deletes": [["q": ["_id": "late"], "limit": 1]]])
            #expect(try await test.enforce("--yes").exitCode == 0)
        }
    }

    @Test func theCommandThatItNamesWritesTheJobsThatMakeTheDocumentsFit() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath(misfits: 3)
            let run = try await test.enforce("--yes")
            #expect(run.exitCode == 1, "\(run.errors)")
            let note = try #require(
                run.output.firstMatch(of: /Note: the jobs that make the documents fit: shipshape (.*)/), "\(run.output)"
            )
            let words = note.1.split(separator: " ").map(String.init)
            let plan = try await Program.run(words + ["--uri", test.uri], in: test.folder)
            #expect([0, 1].contains(plan.exitCode), "\(plan.errors)")
            for job in PlanCase.files(in: test.folder.appending("jobs")) {
                let done = try await Program.run([
                    "backfill", test.folder.appending("jobs").appending(job).string, "--yes", "--reviewed", "--uri",
                    test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                ])
                #expect(done.exitCode == 0, "\(done.output)\(done.errors)")
            }
            #expect(try await test.enforce("--yes").exitCode == 0)
            #expect(try await test.isEnforced("error"))
        }
    }

    @Test(arguments: ["warn", "error"], [true, false])
    func abortGivesBackExactlyWhatWasThere(from stage: String, isUnderAnother: Bool) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath(under: isUnderAnother ? BackfillCase.earlier : nil)
            let before = try await test.validation()
            #expect(try await test.enforce("--yes", "--to", stage).exitCode == 0)
            #expect(try await test.isEnforced(stage))
            let back = try await test.enforce("--abort", "--yes")
            #expect(back.exitCode == 0, "\(back.errors)")
            #expect(try await test.validation().isSame(as: before))
            #expect(try await test.enforce("--abort", "--yes").exitCode == 65)
            // After the abort, the validator can be enforced again.
            #expect(try await test.enforce("--yes").exitCode == 0)
            #expect(try await test.enforce("--abort", "--yes").exitCode == 0)
            #expect(try await test.validation().isSame(as: before))
        }
    }

    @Test func aValidatorThatAnotherClientChangedIsKeptAndReported() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath()
            #expect(try await test.enforce("--yes", "--to", "warn").exitCode == 0)
            try await test.database.run(["collMod": "people", "validator": .object(BackfillCase.earlier)])
            let theirs = try await test.validation()
            for flag in ["--abort", "--yes", "--dry-run"] {
                let refused = try await test.enforce(flag, flag == "--abort" ? "--yes" : "--quiet")
                #expect(refused.exitCode == 65, "\(flag): \(refused.errors)")
                #expect(refused.errors.contains("another client changed the validator"), "\(refused.errors)")
                #expect(refused.errors.contains("validationAction \"warn\""), "\(refused.errors)")
            }
            #expect(try await test.validation().isSame(as: theirs))
            #expect(try await test.enforce("--yes", "--restart").exitCode == 0)
            #expect(try await test.enforce("--abort", "--yes").exitCode == 0)
            #expect(try await test.validation().isSame(as: theirs))
        }
    }

    @Test func anotherValidatorWaitsUntilTheFirstIsThere() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath()
            #expect(try await test.enforce("--yes", "--to", "warn").exitCode == 0)
            try test.write("validator.json", try BackfillCase.earlier.extendedJSON())
            let refused = try await test.enforce("--yes")
            #expect(refused.exitCode == 65, "\(refused.errors)")
            #expect(refused.errors.contains("another validator is being enforced"), "\(refused.errors)")
            try test.write("validator.json", try BackfillCase.validator.extendedJSON())
            #expect(try await test.enforce("--yes").exitCode == 0)
            try test.write("validator.json", try BackfillCase.earlier.extendedJSON())
            #expect(try await test.enforce("--yes").exitCode == 0)
            // Two validators were enforced one after the other. The abort restores the first of them, and not the
            // validator that the collection had before the first.
            #expect(try await test.enforce("--abort", "--yes").exitCode == 0)
            #expect(try await test.isEnforced("error"))
        }
    }

    @Test func ofTwoRunnersOneIsTurnedAway() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath()
            let first = try await test.enforce("--yes", fault: "before-write:1:stop") { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                for flag in ["--quiet", "--abort"] {
                    let second = try await test.enforce("--yes", flag)
                    #expect(second.exitCode == 76, "\(flag): \(second.output)\(second.errors)")
                    #expect(second.errors.contains("is being changed by process"), "\(second.errors)")
                }
                program.send(SIGCONT)
            }
            #expect(first.exitCode == 0, "\(first.errors)")
            #expect(try await test.isEnforced("error"))
        }
    }

    @Test func withoutAYesNothingIsWritten() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath(misfits: 2, under: BackfillCase.earlier)
            let before = try await test.validation()
            let unasked = try await test.enforce()
            #expect(unasked.exitCode == 64)
            #expect(unasked.errors.contains("until error is set, the server refuses nothing"), "\(unasked.errors)")
            let dry = try await test.enforce("--dry-run")
            #expect(dry.exitCode == 1, "\(dry.errors)")
            #expect(dry.output.contains("to come  db.getSiblingDB("), "\(dry.output)")
            let status = try await test.enforce("--status")
            #expect(status.exitCode == 0, "\(status.errors)")
            #expect(status.output.hasPrefix("\(test.database.name).people is without the new validator."))
            #expect(try await test.validation().isSame(as: before))
            #expect(try await !test.hasState())
        }
    }

    @Test func aValidatorThatCannotBeEnforcedIsRefusedBeforeAnythingIsSet() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.preparePath()
            let constraint = try await test.enforce("--yes", "--to", "constraint")
            #expect(constraint.exitCode == 64)
            #expect(constraint.errors.contains("needs MongoDB 9.0"), "\(constraint.errors)")
            try test.write("validator.json", #"{"$jsonSchema": {"required": ["name"]}, "age": {"$gt": 3}}"#)
            let more = try await test.enforce("--yes")
            #expect(more.exitCode == 65, "\(more.errors)")
            #expect(more.errors.contains("enforce takes only validators that it can judge whole"), "\(more.errors)")
            #expect(try await test.validation().validator.isEmpty)
            #expect(try await !test.hasState())
        }
    }

    @Test func aUserOfItsOwnSetsTheValidator() async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.preparePath()
            let people: BSONValue = ["db": .string(test.database.name), "collection": "people"]
            let (reader, changer) = ("reader-\(test.database.name)", "changer-\(test.database.name)")
            let uri = try await test.mongod.addUser(
                reader,
                privileges: [
                    ["resource": people, "actions": ["find"]],
                    [
                        "resource": ["db": .string(test.database.name), "collection": ""],
                        "actions": ["listCollections"],
                    ],
                    [
                        "resource": ["db": .string(test.state.name), "collection": ""],
                        "actions": ["find", "insert", "update"],
                    ],
                ])
            _ = try await test.mongod.addUser(changer, privileges: [["resource": people, "actions": ["collMod"]]])
            let alone = try await test.enforce("--yes", uri: uri)
            #expect(alone.exitCode == 77)
            #expect(alone.errors.contains("collMod"), "\(alone.errors)")
            #expect(try await !test.hasState())
            try test.write("password", "\(changer)-password\n")
            let run = try await test.enforce(
                "--yes", "SHIPSHAPE_COLLMOD_USERNAME=\(changer)",
                "SHIPSHAPE_COLLMOD_PASSWORD_FILE=\(test.folder.appending("password").string)", uri: uri)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.isEnforced("error"))
            #expect(!(run.output + run.errors).contains("\(changer)-password"))
        }
    }
}
