import BSON
import Mongo
import Proving
import Synchronization
import TestSupport

/// Clients who write documents at random until the test stops them.
///
/// Their values repeat, so that clients often write the values that the job writes, or equal values of another type.
final class UndoModelWriters: Sendable {
    private static let values: [BSONValue] = [1, 1.0, .long(1), "1", 0, 0.0, "0", 2.5, "2.5", .null, true]
    private static let paths = ["s", "n", "u", "a", "e.x", "e.y"]
    static let documents = 150

    private let database: TestDatabase
    private let isOver = Atomic(false)
    private let count = Atomic(0)
    private let deleted = Atomic(0)

    init(_ database: TestDatabase) { self.database = database }

    /// The number of documents that the clients have deleted.
    var deletions: Int { deleted.load(ordering: .relaxed) }

    /// Runs `body` while three clients write.
    func write(seed: UInt64, during body: () async throws -> Void) async throws {
        isOver.store(false, ordering: .relaxed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 { group.addTask { try await self.write(Randomness(seed: seed ^ UInt64(number))) } }
            defer { isOver.store(true, ordering: .relaxed) }
            try await body()
            isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
    }

    /// Returns a document with a new instance number.
    func document(_ id: Int, using random: inout Randomness) -> BSONDocument {
        let made = next()
        var fields: [(String, BSONValue)] = ["made", "m1", "m2", "m3", UndoModel.mark].map { ($0, made) }
        for name in ["s", "n", "u", "a"] where random.percent(70) { fields.append((name, random.pick(Self.values))) }
        fields.append(("e", embedded(&random)))
        fields.shuffle(using: &random)
        return BSONDocument([("_id", .integer(id))] + fields)
    }

    private func embedded(_ random: inout Randomness) -> BSONValue {
        var fields: [(String, BSONValue)] = [("y", random.pick(Self.values))]
        if random.percent(50) { fields.append(("x", random.pick(Self.values))) }
        fields.shuffle(using: &random)
        return .object(BSONDocument(fields))
    }

    private func next() -> BSONValue { .string("\(count.add(1, ordering: .relaxed).newValue)") }

    private func write(_ start: Randomness) async throws {
        var random = start
        while !isOver.load(ordering: .relaxed) {
            try await Task.sleep(for: .milliseconds(random.below(8)))
            do { try await write(random.below(Self.documents), &random) } catch let error as MongoError
                where !error.isTransient
            {}  // the server refuses some changes, such as the multiplication of a text
        }
    }

    private func write(_ id: Int, _ random: inout Randomness) async throws {
        let path = random.pick(Self.paths)
        switch random.below(12) {
        case 0: try await delete(id)
        case 1, 2:
            try await delete(id)
            try await database.run(["insert": "c", "documents": [.object(document(id, using: &random))]])
        case 3: try await update(id, .object(document(id, using: &random)))
        case 4, 5: try await update(id, ["$unset": [path: ""], "$set": [UndoModel.mark: next()]])
        case 6: try await update(id, ["$set": ["e": embedded(&random), UndoModel.mark: next()]])
        // The value stays equal, and an int or a long becomes a double.
        case 7: try await update(id, ["$mul": [path: 1.0], "$set": [UndoModel.mark: next()]])
        case 8:
            // The fields `e`, `n` and `s` come first, and all values stay.
            let order: BSONValue = [
                "$mergeObjects": [
                    ["_id": "$_id", "e": "$e", "n": "$n", "s": "$s"], "$$ROOT", [UndoModel.mark: ["$literal": next()]],
                ]
            ]
            try await update(id, [["$replaceWith": order]])
        default:
            try await update(id, ["$set": [path: random.pick(Self.values), UndoModel.mark: next()]])
        }
    }

    private func update(_ id: Int, _ change: BSONValue) async throws {
        try await database.update("c", ["_id": .integer(id)], change)
    }

    private func delete(_ id: Int) async throws {
        let reply = try await database.run(["delete": "c", "deletes": [["q": ["_id": .integer(id)], "limit": 1]]])
        deleted.add(reply["n"]?.integer ?? 0, ordering: .relaxed)
    }
}
