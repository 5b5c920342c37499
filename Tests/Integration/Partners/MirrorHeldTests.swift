import BSON
import Foundation
import Jobs
import TestSupport
import Testing

/// Tests a conflict between a document and its copy in the partner collection.
///
/// A mirror cannot carry over a change of one of the two, and then a client also changes the other. Neither overwrites
/// the other until the conflict is resolved.
@Suite(.fencedDeletes) struct MirrorHeldTests {
    private func withMirror(_ body: (PartnerCase) async throws -> Void) async throws {
        try await PartnerCase.withCopy { test in
            // The mirror refuses this change: a priority that is not a number cannot be converted back.
            try await test.database.update(
                "TaskV2", PartnerCase.target(1), ["$set": ["name": "refused", "priority": "high"]])
            let run = try await test.run("mirror", "--once", "-o", "json")
            try #require(run.errors.contains("is skipped: not a number, date or id"), "\(run.errors)")
            try await body(test)
        }
    }

    private func mirror(_ test: PartnerCase) async throws -> (report: BSONDocument, errors: String) {
        let run = try await test.run("mirror", "--once", "-o", "json")
        #expect(run.exitCode == 0, "\(run.errors)")
        return (try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)"), run.errors)
    }

    private func expectHeld(_ test: PartnerCase, title: BSONValue?) async throws {
        let refused = try #require(try await test.database.documents("TaskV2", PartnerCase.target(1)).first)
        #expect(refused["name"] == "refused" && refused["priority"] == "high")
        #expect(try await test.database.documents("Task", PartnerCase.source(1)).first?["title"] == title)
        #expect(try await test.run("status").output.contains("1 document not on the other side"))
    }

    /// A change that cannot be carried over is reported once, and not again by the next mirror.
    ///
    /// This holds even if an earlier version of the program recorded the reason only as a text.
    @Test(arguments: [false, true]) func aHeldPairIsReportedOnce(_ isOfEarlierVersion: Bool) async throws {
        try await withMirror { test in
            if isOfEarlierVersion {
                try await test.state.run([
                    "update": "unmirrored",
                    "updates": [["q": [:], "u": ["$unset": ["kind": "", "step": "", "fields": ""]]]],
                ])
            }
            #expect(try await mirror(test).errors.contains("is skipped") == false)
            try await expectHeld(test, title: "task 1")
        }
    }

    @Test func aChangeOfTheOtherDocumentOverwritesNoRefusedOne() async throws {
        try await withMirror { test in
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "touched"]])
            let (report, errors) = try await mirror(test)
            #expect(report["conflicts"] == 1 && report["refused"] == 1 && report["to_target"] == 0, "\(report)")
            #expect(errors.contains("so neither document is overwritten"), "\(errors)")
            try await expectHeld(test, title: "touched")
            // The next mirror does not report the same conflict again.
            #expect(try await mirror(test).report["conflicts"] == 0)
            try await expectHeld(test, title: "touched")
        }
    }

    @Test func deletingTheOtherDocumentDeletesNoRefusedOne() async throws {
        try await withMirror { test in
            try await test.database.delete("Task", PartnerCase.source(1))
            #expect(try await mirror(test).report["conflicts"] == 1)
            try await expectHeld(test, title: nil)
        }
    }

    @Test func aRefusedChangeAndAnotherOneThatComeTogetherAreAConflictToo() async throws {
        try await withMirror { test in
            try await test.database.update("TaskV2", PartnerCase.target(2), ["$set": ["priority": "low"]])
            try await test.database.update("Task", PartnerCase.source(2), ["$set": ["title": "later"]])
            let (report, _) = try await mirror(test)
            #expect(report["conflicts"] == 1 && report["refused"] == 2 && report["to_target"] == 0, "\(report)")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(2)).first?["priority"] == "low")
        }
    }

    @Test func theConflictEndsWithAChangeThatCanBeCarriedOver() async throws {
        try await withMirror { test in
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "touched"]])
            _ = try await mirror(test)
            try await test.database.update("TaskV2", PartnerCase.target(1), ["$set": ["priority": "3"]])
            let (report, errors) = try await mirror(test)
            #expect(report["refused"] == 0 && report["to_source"] == 1, "\(report)")
            #expect(errors.contains("the partner's change was later, and wins"), "\(errors)")
            #expect(try await test.database.documents("Task", PartnerCase.source(1)).first?["title"] == "refused")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func aRescanOverwritesNoRefusedDocument() async throws {
        try await withMirror { test in
            #expect(try await test.run("mirror", "--once", "--rescan").exitCode == 0)
            try await expectHeld(test, title: "task 1")
        }
    }
}

/// A document that the server refuses because of its size is skipped and listed.
///
/// Other large documents and unusual documents are carried over.
@Suite(.fencedDeletes) struct MirrorDocumentTests {
    private func large(_ id: Int, _ size: Int) -> BSONDocument {
        ["_id": .integer(id), "title": "large", "filling": .string(String(repeating: "x", count: size))]
    }

    @Test func aDocumentTooLargeForACommandStopsNoOther() async throws {
        try await PartnerCase.withCopy(PartnerCase.renaming) { test in
            for (id, size) in [(100, 9 << 20), (101, 15 << 20), (102, (16 << 20) - 120)] {
                try await test.database.fill("Task", [large(id, size)])
            }
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            #expect(try await test.database.count("TaskV2", ["name": "large"]) == 2)
            for id in [100, 101] {
                try await test.database.update("Task", ["_id": .integer(id)], ["$set": ["title": "new"]])
            }
            try await test.database.fill("Task", [["_id": 103, "title": "small"]])
            let run = try await test.run("mirror", "--once")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("TaskV2", ["name": "new"]) == 2)
            #expect(try await test.database.count("TaskV2", ["name": "small"]) == 1)
            let status = try await test.run("status")
            #expect(status.output.contains("102  the server refuses it (code 10334)"), "\(status.output)")
        }
    }

    @Test func namesThatAreEmptyAndTextsThatAreNotUTF8GoOver() async throws {
        try await PartnerCase.withCopy(PartnerCase.renaming) { test in
            // The byte FF, which is not UTF-8, is the name of one field and the text of another.
            let odd = try BSONDocument(
                bytes: [34, 0, 0, 0, 0x10, 95, 105, 100, 0, 111, 0, 0, 0, 0x10, 0xFF, 0, 1, 0, 0, 0]
                    + [2, 116, 0, 2, 0, 0, 0, 0xFF, 0, 8, 98, 0, 1, 0])
            try await test.database.run(["insert": "Task", "documents": [.object(odd)]])
            try await test.database.run([
                "insert": "Task",
                "documents": [
                    ["_id": 110, "title": "a", "": 1], ["_id": ["": 1], "title": "b"],
                    ["_id": 112, "title": "c", "nested": ["": ["": 2]]],
                ],
            ])
            let run = try await test.run("mirror", "--once", "-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            #expect(report["refused"] == 0 && report["to_target"] == 4, "\(run.output)\(run.errors)")
            #expect(try await test.database.documents("TaskV2", ["_id": 111]).first == odd)
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    /// A timestamp of zero is carried over, although the server replaces it by its own time in an inserted document.
    @Test func theTimestampOfNothingStaysIt() async throws {
        try await PartnerCase.withCopy(PartnerCase.renaming) { test in
            let stamped: BSONDocument = ["_id": 120, "name": "stamped", "at": .timestamp(5), "after": 1]
            try await test.database.fill("TaskV2", [stamped])
            try await test.database.update("TaskV2", ["_id": 120], ["$set": ["at": .timestamp(0)]])
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            let inserted = try #require(try await test.database.documents("Task", ["_id": 120]).first)
            #expect(inserted["at"] == .timestamp(0) && inserted["title"] == "stamped")
            try await test.database.update("Task", ["_id": 120], ["$set": ["title": "changed"]])
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            #expect(try await test.database.documents("TaskV2", ["_id": 120]).first?["at"] == .timestamp(0))
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }
}

/// Tests a mirror whose partner has a unique index.
///
/// Before the mirror reads the changes, clients give the unique key of a document to another document.
@Suite(.fencedDeletes) struct MirrorUniqueKeyTests {
    private func withMirror(_ body: (PartnerCase) async throws -> Void) async throws {
        try await PartnerCase.withCopy(
            PartnerCase.renaming,
            load: { test in
                let index: BSONValue = ["key": ["key": 1], "name": "key", "unique": true, "sparse": true]
                try await test.database.run(["createIndexes": "Task", "indexes": [index]])
                try await test.database.fill("Task", count: 6) {
                    ["_id": .integer($0), "title": "t", "key": .integer($0)]
                }
            }, body)
    }

    private func give(_ number: Int, _ key: Int, _ test: PartnerCase) async throws {
        try await test.database.update("Task", ["_id": .integer(number)], ["$set": ["key": .integer(key)]])
    }

    private func expectEqual(_ test: PartnerCase, line: SourceLocation = #_sourceLocation) async throws {
        let run = try await test.run("mirror", "--once", "-o", "json")
        #expect(run.exitCode == 0, "\(run.errors)", sourceLocation: line)
        let report = try #require(try BSONValue(extendedJSON: run.output).document)
        #expect(report["refused"] == 0, "\(run.output)\(run.errors)", sourceLocation: line)
        #expect(try await test.differences()["difference_count"] == 0, sourceLocation: line)
    }

    @Test func aKeyThatMovesToANewDocumentGoesOver() async throws {
        try await withMirror { test in
            try await test.database.delete("Task", ["_id": 3])
            try await test.database.fill("Task", [["_id": 30, "title": "new", "key": 3]])
            try await expectEqual(test)
        }
    }

    @Test func aChainOfKeysGoesOver() async throws {
        try await withMirror { test in
            try await give(5, 50, test)
            for number in [4, 3, 2, 1, 0] { try await give(number, number + 1, test) }
            try await expectEqual(test)
        }
    }

    @Test func aCircleOfKeysGoesOver() async throws {
        try await withMirror { test in
            try await give(0, 100, test)
            for number in 1...3 { try await give(number, number - 1, test) }
            try await give(0, 3, test)
            try await give(4, 100, test)
            try await give(5, 4, test)
            try await give(4, 5, test)
            try await expectEqual(test)
        }
    }

    /// A document cannot be carried over while another document of the partner collection has the same unique key.
    ///
    /// Once a client gives that other document a new key, the running mirror carries the first document over.
    @Test func aKeyThatTheOtherSideGivesUpLaterGoesOverThen() async throws {
        try await withMirror { test in
            try await test.database.run(["dropIndexes": "Task", "index": "key"])
            try await test.database.fill("Task", [["_id": 40, "title": "waits", "key": 2]])
            let run = try await test.run("mirror") { program in
                try await waitUntil("it is refused") {
                    try await test.state.count("unmirrored", ["code": 11_000]) == 1
                }
                try await test.database.update("TaskV2", ["_id": 2], ["$set": ["key": 200]])
                try await waitUntil("it goes over") { try await test.database.count("TaskV2", ["_id": 40]) == 1 }
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("another document has the same key in a unique index"), "\(run.errors)")
            try await expectEqual(test)
        }
    }
}
