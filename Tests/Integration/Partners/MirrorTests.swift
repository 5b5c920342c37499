import BSON
import Foundation
import TestSupport
import Testing

/// Tests which changes of one collection a mirror makes in the other collection, and which it does not.
@Suite(.fencedDeletes) struct MirrorTests {
    private func report(_ run: ProgramRun) throws -> BSONDocument {
        try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
    }

    @Test func everyKindOfChangeGoesOverBothWays() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            let database = test.database
            try await database.update("Task", PartnerCase.source(1), ["$set": ["title": "one"]])
            try await database.update("Task", PartnerCase.source(2), ["$unset": ["priority": 1]])
            try await database.update(
                "Task", PartnerCase.source(3), ["_id": .objectID(PartnerCase.id(3)), "title": "replaced"])
            try await database.delete("Task", PartnerCase.source(4))
            try await database.fill("Task", [PartnerCase.task(100)])
            try await database.update("TaskV2", PartnerCase.target(11), ["$set": ["name": "eleven", "priority": "4"]])
            try await database.update("TaskV2", PartnerCase.target(14), ["$unset": ["priority": 1]])
            try await database.delete("TaskV2", PartnerCase.target(12))
            try await database.fill(
                "TaskV2", [["_id": .string("\(PartnerCase.id(200))"), "name": "new", "note": "own"]])
            let run = try await test.run("mirror", "--once", "-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let report = try report(run)
            #expect(report["to_target"] == 5 && report["to_source"] == 4, "\(run.output)")
            #expect(report["conflicts"] == 0 && report["refused"] == 0)
            let originals = try await database.documents("Task")
            func original(_ number: Int) -> BSONDocument? {
                originals.first { $0["_id"] == .objectID(PartnerCase.id(number)) }
            }
            #expect(original(11)?["title"] == "eleven" && original(11)?["priority"] == 4)
            #expect(original(12) == nil && original(200)?["title"] == "new" && original(200)?["note"] == nil)
            #expect(original(14)?["priority"] == nil)
            #expect(try await test.differences()["difference_count"] == 0)
            // The mirror's own writes come back as change events. The mirror carries none of these changes over.
            let again = try self.report(try await test.run("mirror", "--once", "-o", "json"))
            #expect(again["to_target"] == 0 && again["to_source"] == 0)
        }
    }

    /// A client changes a document, and changes it again just before a mirror writes the first change to the partner
    /// collection.
    ///
    /// The mirror is killed before its next write.
    ///
    /// The next mirror does not mistake the killed mirror's write for a client's change, and carries the client's
    /// second change over.
    @Test func aMirrorThatDiesBeforeAWriteKnowsTheOneBefore() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            try await test.database.update("Task", PartnerCase.source(2), ["$set": ["title": "first"]])
            let run = try await test.run("mirror", fault: "before-write:1:stop,before-write:2:kill") { program in
                try await waitUntil("the mirror is about to write") { try program.isStopped }
                try await test.database.update("Task", PartnerCase.source(2), ["$set": ["title": "second"]])
                program.send(SIGCONT)
                try await waitUntil("the mirror is dead") { program.hasEnded }
            }
            #expect(run.wasKilled, "\(run.errors)")
            let there = try await test.database.documents("TaskV2", PartnerCase.target(2))
            #expect(there.first?["name"] == "first")
            try await test.endLease()
            let next = try await test.run("mirror", "--once", "-o", "json")
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(try await test.database.documents("Task", PartnerCase.source(2)).first?["title"] == "second")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(2)).first?["name"] == "second")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func fieldsOfOneSideStayThere() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            try await test.database.update("TaskV2", PartnerCase.target(6), ["$set": ["note": "kept"]])
            try await test.database.update("Task", PartnerCase.source(6), ["$set": ["title": "six"]])
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            let partner = try #require(try await test.database.documents("TaskV2", PartnerCase.target(6)).first)
            #expect(partner["note"] == "kept" && partner["name"] == "six" && partner["legacy"] == nil)
            try await test.database.update("TaskV2", PartnerCase.target(6), ["$set": ["name": "sixth"]])
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            let original = try #require(try await test.database.documents("Task", PartnerCase.source(6)).first)
            #expect(original["legacy"] == "old 6" && original["title"] == "sixth")
        }
    }

    @Test func whereBothChangedTheLaterChangeWinsAndIsNamed() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "original"]])
            try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["name": "partner"]])
            try await test.database.update("TaskV2", PartnerCase.target(2), ["$set": ["name": "partner"]])
            try await test.database.update("Task", PartnerCase.source(2), ["$set": ["title": "original"]])
            try await test.database.update("TaskV2", PartnerCase.target(3), ["$set": ["name": "partner"]])
            try await test.database.delete("Task", PartnerCase.source(3))
            let run = try await test.run("mirror", "--once")
            #expect(run.exitCode == 0)
            #expect(run.output.contains("3 pairs had changed on both sides"), "\(run.output)")
            #expect(run.errors.contains("partner's change was later, and wins"), "\(run.errors)")
            #expect(try await test.database.documents("Task", PartnerCase.source(1)).first?["title"] == "partner")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(2)).first?["name"] == "original")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(3)).isEmpty)
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func documentsThatCannotBeOnTheOtherSideAreNamedAndSkipped() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["priority": "high"]])
            try await test.database.fill("TaskV2", [["_id": "no object id", "name": "x"]])
            let run = try await test.run("mirror", "--once", "-o", "json")
            #expect(try report(run)["refused"] == 2, "\(run.output)")
            #expect(run.errors.contains("is skipped: not a number, date or id"), "\(run.errors)")
            #expect(try await test.database.documents("Task", PartnerCase.source(1)).first?["priority"] == 1)
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["priority"] == "high")
            try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["priority": "3"]])
            try await test.database.delete("TaskV2", ["_id": "no object id"])
            let mended = try report(try await test.run("mirror", "--once", "-o", "json"))
            #expect(try await test.database.documents("Task", PartnerCase.source(1)).first?["priority"] == 3)
            #expect(mended["to_source"] == 1 && mended["refused"] == 0)
        }
    }

    @Test func changesFromBeforeTheMirrorsStartAreCarriedOverToo() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(1_200)
            let run = try await test.run("init", fault: "before-write:2:stop") { program in
                try await waitUntil("the copy is stopped") { try program.isStopped }
                // Tasks 1 and 2 are already copied; tasks 700 and 701 are read and not written yet.
                try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "meanwhile"]])
                try await test.database.delete("Task", PartnerCase.source(2))
                try await test.database.update("Task", PartnerCase.source(700), ["$set": ["title": "meanwhile"]])
                try await test.database.delete("Task", PartnerCase.source(701))
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let mirror = try await test.run("mirror", "--once")
            #expect(mirror.exitCode == 0 && !mirror.output.contains("both sides"), "\(mirror.output)")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["name"] == "meanwhile")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(700)).first?["name"] == "meanwhile")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func aDropStopsTheMirrorUnlessTheJobFollowsIt() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            try await test.database.run(["drop": "Task"])
            let run = try await test.run("mirror", "--once")
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(run.errors.contains("was dropped, and"), "\(run.errors)")
            #expect(try await test.partners().count == 40)
        }
        try await PartnerCase.withCopy(PartnerCase.documented + "\ndrops: follow", count: 40) { test in
            try await test.database.run(["drop": "TaskV2"])
            try await test.database.fill("TaskV2", [["_id": .string("\(PartnerCase.id(300))"), "name": "after"]])
            let run = try await test.run("mirror", "--once")
            #expect(run.exitCode == 0, "\(run.errors)")
            let originals = try await test.database.documents("Task")
            #expect(originals.map { $0["title"] } == ["after"])
        }
    }

    @Test func aRescanMakesWhatIsLackingAndDeletesNothing() async throws {
        try await PartnerCase.withCopy(count: 40) { test in
            try await test.database.delete("Task", PartnerCase.source(1))
            try await test.database.delete("TaskV2", PartnerCase.target(2))
            try await test.database.update("TaskV2", PartnerCase.target(3), ["$set": ["name": "other"]])
            let run = try await test.run("mirror", "--once", "--rescan")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("Task") == 40)
            #expect(try await test.database.count("TaskV2") == 40)
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(3)).first?["name"] == "task 3")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func aMirrorNeedsACopyAndHasNoSecond() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(5)
            let early = try await test.run("mirror", "--once")
            #expect(early.exitCode == 64)
            #expect(early.errors.contains("run partner init first"), "\(early.errors)")
            #expect(try await test.run("init").exitCode == 0)
            let run = try await test.run("mirror") { program in
                try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "seen"]])
                try await waitUntil("the change is carried over") {
                    try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["name"] == "seen"
                }
                let second = try await test.run("mirror", "--once")
                #expect(second.exitCode == 76, "\(second.errors)")
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
        }
    }

    /// A mirror must not record a lag of years while the change stream of one side is not open yet.
    ///
    /// If the missing time of that stream counted as 0, the lag would be the time since 1970.
    @Test func aMirrorThatBeginsDoesNotLagByYears() async throws {
        try await PartnerCase.withCopy { test in
            let appName = "opens-late-\(test.database.name)"
            var point = FailPoint("aggregate", appName: appName)
            (point.namespace, point.blockTime) = ("\(test.database.name).TaskV2", .seconds(10))
            try await Mongod.shared.failing(point) {
                let run = try await test.run("mirror", uri: Mongod.shared.uri(appName: appName)) { program in
                    var lag: Int?
                    try await waitUntil("the mirror records how far it is") {
                        lag = try await test.lagSeconds()
                        return lag != nil || program.hasEnded
                    }
                    #expect(try #require(lag) < 3600)
                    program.send(SIGTERM)
                }
                #expect(run.exitCode == 0 || run.exitCode == 75, "\(run.errors)")
            }
        }
    }
}
