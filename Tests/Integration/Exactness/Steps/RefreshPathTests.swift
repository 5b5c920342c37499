import BSON
import TestSupport
import Testing

/// A step with `whenPresent: refresh` overwrites a value only if the newest value that the job wrote at the same path
/// is still there.
@Suite struct RefreshPathTests {
    private func withDocument(
        _ document: BSONDocument, _ steps: [String], _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [document])
            try test.job(steps: steps)
            #expect(try await test.backfill().exitCode == 0)
            try await body(test)
        }
    }

    /// Changes the document as a client does, and runs the job again.
    /// - Returns: the document after the run, and the number of refreshed documents that the run reports.
    private func refresh(_ test: BackfillCase, _ change: BSONDocument) async throws -> (BSONDocument, refreshed: Int?) {
        try await test.database.set("people", 1, change)
        let run = try await test.backfill("job", "--output", "json")
        #expect([0, 1].contains(run.exitCode), "\(run.status): \(run.errors)")
        let document = try #require(try await test.database.documents("people").first)
        return (document, try test.report(run)["refreshed"]?.integer)
    }

    /// A client changes `o.x`, and later runs of the job refresh the field `o.y` of the same object.
    @Test func aSiblingThatAClientChangedStays() async throws {
        let steps = [
            "copy: {from: a, to: o.x, whenPresent: refresh}", "copy: {from: b, to: o.y, whenPresent: refresh}",
        ]
        try await withDocument(["_id": 1, "a": 1, "b": 1, "o": ["z": 0]], steps) { test in
            let (first, refreshed) = try await refresh(test, ["o.x": "mine", "b": 2])
            #expect(first["o"] == ["z": 0, "x": "mine", "y": 2])
            #expect(refreshed == 1)
            // The source of `o.x` changes too, but the value of the client stays.
            let (second, none) = try await refresh(test, ["a": 3])
            #expect(second["o"] == ["z": 0, "x": "mine", "y": 2])
            #expect(none == 0)
        }
    }

    /// A client changes a field of the object that no step of the job writes.
    @Test func aTargetIsRefreshedAlthoughAClientChangedAnotherFieldOfItsObject() async throws {
        try await withDocument(["_id": 1, "a": 1, "o": ["z": 0]], ["copy: {from: a, to: o.x, whenPresent: refresh}"]) {
            test in
            let (document, refreshed) = try await refresh(test, ["o.z": "mine", "a": 2])
            #expect(document["o"] == ["z": "mine", "x": 2])
            #expect(refreshed == 1)
        }
    }

    /// A client sets the target to a value that an earlier run of the job wrote, and a later run replaced.
    @Test func anEarlierValueOfTheJobIsNotTheNewestOne() async throws {
        try await withDocument(["_id": 1, "a": 1], ["copy: {from: a, to: x, whenPresent: refresh}"]) { test in
            #expect(try await refresh(test, ["a": 2]).0["x"] == 2)
            let (document, refreshed) = try await refresh(test, ["x": 1, "a": 3])
            #expect(document["x"] == 1)
            #expect(refreshed == 0)
        }
    }

    /// The job writes `o.y` for the first time after a client has changed `o.x`.
    @Test func aSiblingThatAClientChangedStaysAlthoughTheJobWritesTheObject() async throws {
        let steps = [
            "copy: {from: a, to: o.x, whenPresent: refresh}", "copy: {from: b, to: o.y, whenPresent: refresh}",
        ]
        try await withDocument(["_id": 1, "a": 1, "o": ["z": 0]], steps) { test in
            let (first, _) = try await refresh(test, ["o.x": "mine", "b": 2])
            #expect(first["o"] == ["z": 0, "x": "mine", "y": 2])
            let (second, refreshed) = try await refresh(test, ["a": 3])
            #expect(second["o"] == ["z": 0, "x": "mine", "y": 2])
            #expect(refreshed == 0)
        }
    }

    @Test func aDocumentWithTwoRefreshedTargetsCountsOnce() async throws {
        let steps = ["copy: {from: a, to: x, whenPresent: refresh}", "copy: {from: b, to: y, whenPresent: refresh}"]
        try await withDocument(["_id": 1, "a": 1, "b": 1], steps) { test in
            let (document, refreshed) = try await refresh(test, ["a": 2, "b": 2])
            #expect(document == ["_id": 1, "a": 2, "b": 2, "x": 2, "y": 2])
            #expect(refreshed == 1)
        }
    }
}
