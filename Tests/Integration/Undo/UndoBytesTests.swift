import BSON
import TestSupport
import Testing

/// Undo keeps the bytes of fields that the job did not touch, and finds a document by the bytes of its `_id`.
@Suite struct UndoBytesTests {
    /// Returns the document with each byte `mark` replaced by the byte FF, which is not valid in UTF-8.
    private static func invalid(_ document: BSONDocument, from mark: Character = "?") throws -> BSONDocument {
        var bytes = document.bytes
        for index in bytes.indices where bytes[index] == mark.asciiValue { bytes[index] = 0xFF }
        return try BSONDocument(bytes: bytes)
    }

    /// Stores a document with an update; an insert would replace its empty timestamps by the server's time.
    private func put(_ document: BSONDocument, in test: BackfillCase) async throws {
        let id = try #require(document["_id"])
        try await test.database.fill("people", [["_id": id]])
        try await test.database.run([
            "update": "people",
            "updates": [["q": ["_id": id], "u": [["$replaceWith": ["$literal": .object(document)]]]]],
        ])
    }

    @Test func untouchedFieldsKeepTheirBytes() async throws {
        try await keepsItsBytes(["t": .timestamp(0), "p": ["a.b": 2]])
    }

    @Test(.server(from: 5, for: "field names with a leading $")) func oddNamesKeepTheirBytes() async throws {
        try await keepsItsBytes(["$x": 1, "a.b": 2])
    }

    private func keepsItsBytes(_ odd: BSONDocument) async throws {
        try await Mongod.shared.withBackfill { test in
            let document = BSONDocument(
                [("_id", 1), ("a", 1)] + (try odd.elements().map { ($0.name, $0.value) }) + [("z", 2)])
            try await put(document, in: test)
            #expect(try await test.database.documents("people") == [document])
            try test.job(steps: ["unset: {field: a}"])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            #expect(try await test.database.documents("people") == [document])
        }
    }

    private static let oddKeys = BSONValue.array(["5": 1, "5": 2])

    /// Two documents with arrays whose keys are not 0, 1, 2 and so on, and one document without such an array.
    private static let lists: [BSONDocument] = [
        ["_id": 1, "a": 1, "list": oddKeys, "o": ["x": 1, "q": oddKeys], "z": 2],
        ["_id": 2, "a": 1, "list": [[1], oddKeys], "o": ["x": 1, "p": ["q": oddKeys], "q": [oddKeys]], "z": 2],
        ["_id": 3, "a": 1, "list": [1, 2], "o": ["x": 1, "q": [1, 2]], "z": 2],
    ]

    /// A step keeps the keys of an array that it does not use, even if they are not 0, 1, 2 and so on.
    ///
    /// The step also keeps the keys if it copies the object that contains the array.
    @Test(arguments: [
        "unset: {field: a}", "default: {field: b, value: 1}", "rename: {from: a, to: b}", "wrap: {field: a}",
        "copy: {from: o, to: b}",
    ])
    func anArrayWithOddKeysKeepsThem(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", Self.lists)
            let original = try await test.database.documents("people")
            try #require(original == Self.lists)
            try test.job(steps: [step])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            let written = try await test.database.documents("people")
            for (before, after) in zip(original, written) {
                #expect(before != after)
                #expect(before["list"] == after["list"] && before["o"] == after["o"])
            }
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// The run skips and lists a document if a step would use an array whose keys are not 0, 1, 2 and so on.
    ///
    /// The same applies if the step would change or move the object that contains the array. The server would renumber
    /// the keys.
    @Test(
        .server(from: 5, for: "hashes of objects"),
        arguments: [
            "copy: {from: list, to: b}", "rename: {from: list, to: b}", "wrap: {field: list, under: x}",
            "expression: {field: b, value: {$size: $list}}", "rename: {from: o, to: b}", "unset: {field: list}",
            "copy: {from: o.q, to: b}", "rename: {from: o.q, to: o.r}",
            "default: {field: o.n, value: 1}", "rename: {from: o.x, to: o.y}", "unset: {field: o.x}",
            "convert: {field: o.x, to: string}",
        ])
    func anArrayWithOddKeysIsNotRenumbered(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", Self.lists)
            try test.job(steps: [step])
            let dry = try await test.backfill("job", "--dry-run", yes: false)
            #expect(dry.output.contains("an array has other keys than 0, 1, 2"), "\(dry.output)\(dry.errors)")
            let run = try await test.backfill()
            #expect(run.exitCode == 1, "\(run.output)\(run.errors)")
            #expect(run.output.contains("an array has other keys than 0, 1, 2"), "\(run.output)\(run.errors)")
            let written = try await test.database.documents("people")
            #expect(written[..<2] == Self.lists[..<2])
            #expect(written[2] != Self.lists[2])
            #expect(try await test.undo().exitCode == 0)
            #expect(try await test.database.documents("people") == Self.lists)
        }
    }

    /// If a job has several steps, its updates write the target fields of all steps, even of steps that a document does
    /// not need.
    ///
    /// The run skips a document if such a target field has an array whose keys are not 0, 1, 2 and so on.
    @Test(
        .server(from: 5, for: "hashes of objects"),
        arguments: [
            "default: {field: list, value: 1}", "copy: {from: a, to: list}",
            "copy: {from: a, to: list, whenPresent: keep}", "copy: {from: a, to: list, whenPresent: refresh}",
            "combine: {into: list, template: \"{a} x\"}", "convert: {field: a, to: string, into: list}",
            "default: {field: list.x, value: 1}",
        ])
    func anArrayWithOddKeysIsNotRenumberedWhereItsStepIsNotNeeded(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", Self.lists)
            try test.job(steps: ["default: {field: b, value: 1}", step])
            let run = try await test.backfill()
            #expect(run.exitCode == 1, "\(run.output)\(run.errors)")
            #expect(run.output.contains("an array has other keys than 0, 1, 2"), "\(run.output)\(run.errors)")
            let written = try await test.database.documents("people")
            #expect(written[..<2] == Self.lists[..<2])
            #expect(written[2] == Self.lists[2].appending("b", 1))
            #expect(try await test.undo().exitCode == 0)
            #expect(try await test.database.documents("people") == Self.lists)
        }
    }

    @Test(arguments: ["unset: {field: a}", "default: {field: b, value: 1}"])
    func anIDThatIsNotUTF8IsFoundByItsBytes(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            let odd = try Self.invalid(["_id": "n?", "a": 1, "z": 2])
            let neighbour: BSONDocument = ["_id": "n\u{FFFD}", "a": 1, "z": 3]
            try await test.database.fill("people", [odd, neighbour])
            let original = try await test.database.documents("people")
            try #require(original.count == 2)
            try test.job(steps: [step])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people").count { original.contains($0) } == 0)
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// The command that restores a document contains what the job changed of it, and has less than 16 MiB less 16 KiB.
    ///
    /// The dry run counts exactly the documents that undo leaves, also by a step that only the server evaluates.
    @Test(
        arguments: ["wrap: {field: big}", "unset: {field: big}", "expression: {field: big, value: \"$n\"}"],
        [(9_000_000, true), (16_755_000, true), (16_770_000, false)])
    func changesTooLargeToUndoAreReportedBefore(_ step: String, _ size: (bytes: Int, isUndone: Bool)) async throws {
        try await Mongod.shared.withBackfill { test in
            let large = BSONValue.string(String(repeating: "x", count: size.bytes))
            let documents: [BSONDocument] = [["_id": 0, "n": 1, "big": "small"], ["_id": 1, "n": 1, "big": large]]
            for document in documents { try await test.database.fill("people", [document]) }
            try test.job(steps: [step])
            let plan = try await test.backfill("job", "--dry-run", yes: false)
            let words = "1 document has more than 16.7 MB in fields that the job writes or removes"
            #expect(plan.output.contains(words) != size.isUndone, "\(plan.output)\(plan.errors)")
            #expect(try await test.backfill().exitCode == 0)
            let undone = try await test.undo()
            #expect(undone.exitCode == (size.isUndone ? 0 : 1), "\(undone.output)\(undone.errors)")
            #expect(!(undone.output + undone.errors).contains("restored fields are at the end"))
            #expect((try await test.database.documents("people") == documents) == size.isUndone)
        }
    }

    @Test(arguments: [7_600_000, 12_000_000]) func aLargeDocumentIsRestored(_ size: Int) async throws {
        try await Mongod.shared.withBackfill { test in
            let document: BSONDocument = [
                "_id": 1, "a": 1, "big": .string(String(repeating: "x", count: size)), "z": 2,
            ]
            try await test.database.fill("people", [document])
            try test.job(steps: ["unset: {field: a}"])
            #expect(try await test.backfill().exitCode == 0)
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            let after = try #require(try await test.database.documents("people").first)
            #expect(after["a"] == 1)
            #expect(after["big"] == document["big"])
            #expect(after["z"] == 2)
        }
    }
}
