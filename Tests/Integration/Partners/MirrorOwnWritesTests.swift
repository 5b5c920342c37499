import BSON
import Foundation
import TestSupport
import Testing

/// The mirror recognizes its own writes by their transactions, so a client may write the same values as the mirror.
@Suite(.fencedDeletes) struct MirrorOwnWritesTests {
    private func name(_ number: Int, _ test: PartnerCase) async throws -> BSONValue? {
        try await test.database.documents("TaskV2", PartnerCase.target(number)).first?["name"]
    }
    private func title(_ number: Int, _ test: PartnerCase) async throws -> BSONValue? {
        try await test.database.documents("Task", PartnerCase.source(number)).first?["title"]
    }

    @Test func aClientThatSetsBackWhatTheMirrorWroteIsFollowed() async throws {
        try await PartnerCase.withCopy { test in
            let run = try await test.run("mirror", "-o", "json") { program in
                try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "off"]])
                try await waitUntil("the partner has it") { try await name(1, test) == "off" }
                for (text, round) in [("on", 1), ("off", 2), ("on", 3), ("off", 4)] {
                    try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["name": .string(text)]])
                    try await waitUntil("the original has \(text), round \(round)") {
                        try await title(1, test) == .string(text)
                    }
                }
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            #expect(report["to_target"] == 1 && report["to_source"] == 4, "\(run.output)")
            #expect(report["conflicts"] == 0, "\(run.errors)")
        }
    }

    /// A first mirror writes a document, and a client then changes it.
    ///
    /// A second mirror carries the client's change over, and is killed. The client then restores the values that the
    /// first mirror wrote.
    ///
    /// A third mirror must not take these values for the first mirror's own write, but carry them over.
    @Test func aClientThatChangesAndSetsBackBetweenTwoRunsIsNoEcho() async throws {
        try await PartnerCase.withCopy { test in
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "off"]])
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["name": "on"]])
            let killed = try await test.run("mirror", "--once", fault: "after-write:1:kill")
            #expect(killed.wasKilled)
            #expect(try await title(1, test) == "on")
            try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["name": "off"]])
            try await test.endLease()
            let run = try await test.run("mirror", "--once", "-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await title(1, test) == "off", "\(run.output)")
            #expect(try #require(try BSONValue(extendedJSON: run.output).document)["conflicts"] == 0, "\(run.errors)")
        }
    }

    /// The mirror's commit succeeds, but the server's replies report errors, so the mirror retries the commit.
    ///
    /// Before the retry, a client restores the earlier content of the document. The retry must not overwrite this
    /// change.
    @Test func aRetryOfACommittedTransactionOverwritesNoClient() async throws {
        try await PartnerCase.withCopy { test in
            var point = FailPoint("commitTransaction", appName: test.appName, mode: .times(4))
            point.writeConcernError = ["code": 91, "errmsg": "shutting down"]
            point.blockTime = .seconds(2)
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "new"]])
            let run = try await test.mongod.failing(point) {
                try await test.run("mirror", "--once", "-o", "json") { program in
                    try await waitUntil("the first commit is done") {
                        try await name(1, test) == "new" || program.hasEnded
                    }
                    try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["name": "task 1"]])
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            // If the retry had overwritten the client's change, the mirror would now restore that change and count a
            // conflict.
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            let rest = try await test.mirrored()
            #expect(try await title(1, test) == "task 1", "\(run.errors)")
            #expect(try await name(1, test) == "task 1", "\(run.errors)")
            #expect(report["conflicts"] == 0 && rest["conflicts"] == 0, "\(report) \(rest)")
        }
    }

    /// A client changes a document after the mirror has read it, and restores the document before the mirror writes it.
    ///
    /// The document is as before, but the client's last change still wins over the mirror's write.
    @Test(arguments: [false, true]) func aDocumentThatIsSetBackMeanwhileIsAConflict(_ stopsAtOnce: Bool) async throws {
        try await PartnerCase.withCopy { test in
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "new"]])
            let flags = stopsAtOnce ? [] : ["--once"]
            let run = try await test.run("mirror", flags: flags, fault: "before-write:1:stop") { program in
                try await waitUntil("the mirror is about to write") { try program.isStopped }
                for text in ["between", "task 1"] {
                    try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["name": .string(text)]])
                }
                if stopsAtOnce { program.send(SIGTERM) }
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            _ = try await test.mirrored()
            #expect(try await title(1, test) == "task 1", "\(run.errors)")
            #expect(try await name(1, test) == "task 1", "\(run.errors)")
            #expect(run.errors.contains("the partner's change was later, and wins"), "\(run.errors)")
        }
    }

    @Test func aDocumentThatIsDeletedInsertedAndDeletedAgainIsGone() async throws {
        try await PartnerCase.withCopy { test in
            let document = try #require(try await test.database.documents("Task", PartnerCase.source(2)).first)
            let run = try await test.run("mirror") { program in
                for round in 1...3 {
                    try await test.database.delete("Task", PartnerCase.source(2))
                    try await waitUntil("the partner is gone, round \(round)") { try await name(2, test) == nil }
                    try await test.database.fill("Task", [document])
                    try await waitUntil("the partner is back, round \(round)") { try await name(2, test) != nil }
                }
                try await test.database.delete("TaskV2", PartnerCase.target(2))
                try await waitUntil("the original is gone") { try await title(2, test) == nil }
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            #expect(try await test.differences()["difference_count"] == 0)
            #expect(try await test.database.count("Task") == 4)
        }
    }

    /// The mirror is killed before it commits a transaction: the transaction changes nothing, and the next mirror
    /// continues.
    @Test func aMirrorThatDiesInATransactionLeavesNothing() async throws {
        try await PartnerCase.withCopy { test in
            try await test.database.update("Task", PartnerCase.source(3), ["$set": ["title": "first"]])
            #expect(try await test.run("mirror", "--once", fault: "before-commit:1:kill").wasKilled)
            #expect(try await name(3, test) == "task 3")
            let next = try await test.run(
                "mirror", "--once", "SHIPSHAPE_LEASE_TTL=5s", "SHIPSHAPE_LEASE_WAIT=90s", "-o", "json")
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(try await name(3, test) == "first")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }
}
