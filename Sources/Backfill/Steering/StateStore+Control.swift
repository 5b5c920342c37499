import BSON
import Mongo

/// What operators ask of a job, and the log of it.
extension StateStore {
    /// The newest lines that a job's log keeps.
    private static let logLength = 200

    /// What operators asked of the job; nothing before its first start.
    func control() throws(MongoError) -> Control {
        Control(try client.first("jobs", ["_id": .string(job)], projecting: ["control": 1]) ?? [:])
    }

    /// Changes the job's `control` and adds a line to its log, both at the server's time.
    /// - Parameters:
    ///   - changes: as a pipeline's `$set` takes them, by paths such as `control.paused`; `$$REMOVE` takes one away.
    ///   - what: what was done, as the log tells it.
    ///   - by: who did it.
    /// - Returns: the job's record as it is then; `nil` when no job of that name was started.
    @discardableResult
    func steer(_ changes: BSONDocument, what: String, by person: String) throws(MongoError) -> BSONDocument? {
        var builder = BSONBuilder()
        for (path, value) in (try? changes.elements()) ?? [] { builder.append(path, value) }
        builder.append(
            "log",
            [
                "$slice": [
                    ["$concatArrays": [["$ifNull": ["$log", []]], [Self.mark(by: person, ["what": .string(what)])]]],
                    .integer(-Self.logLength),
                ]
            ])
        return try client.modify("jobs", ["_id": .string(job)], [["$set": .object(builder.finish())]])
    }

    /// Who and when, by the server's clock, as an expression; `fields` are kept as they are.
    static func mark(by person: String, _ fields: BSONDocument = [:]) -> BSONValue {
        ["$mergeObjects": [["at": "$$NOW", "by": ["$literal": .string(person)]], ["$literal": .object(fields)]]]
    }
}
