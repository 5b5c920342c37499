import BSON
import JobState
import Mongo
import SystemPackage
import TestSupport
import Testing

/// Helpers for tests that enforce a validator on a collection.
extension BackfillCase {
    /// A validator that requires `name` to be a text that is not empty.
    static let validator: BSONDocument = [
        "$jsonSchema": [
            "bsonType": "object", "required": ["name"], "properties": ["name": ["bsonType": "string", "minLength": 1]],
        ]
    ]

    /// The validator that the collection has before `enforce` sets `validator`.
    static let earlier: BSONDocument = ["$jsonSchema": ["required": ["_id"], "title": "the old one"]]

    /// Inserts this many `people`, the first `misfits` of which do not fit `validator`, and writes `validator` to a
    /// file.
    /// - Parameter earlier: the validator that the collection has at first; `nil` for none.
    func preparePath(count: Int = 20, misfits: Int = 0, under earlier: BSONDocument? = nil) async throws {
        try write("validator.json", try Self.validator.extendedJSON())
        try await database.fill("people", count: count) { number in
            ["_id": .integer(number), "name": number < misfits ? .integer(number) : .string("n\(number)")]
        }
        guard let earlier else { return }
        try await database.run([
            "collMod": "people", "validator": .object(earlier), "validationLevel": "moderate",
            "validationAction": "error",
        ])
    }

    /// Runs `shipshape enforce` without a terminal.
    @discardableResult
    func enforce(
        _ flags: String..., uri: String? = nil, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let file = flags.contains("--abort") ? [] : [folder.appending("validator.json").string]
        return try await Program.run(
            ["enforce"] + file + flags + [
                "--collection", "\(database.name).people", "SHIPSHAPE_STATE_DATABASE=\(state.name)", "--uri",
                uri ?? self.uri,
            ], fault: fault, during: during)
    }

    /// Returns the validation settings of the collection.
    func validation() async throws -> Validation {
        let namespace = database.namespace("people")
        let info = try await database.pool.withClient { client throws(MongoError) in
            try client.collectionInfo(namespace)
        }
        return try #require(info).validation
    }

    /// Whether the collection has `validator` with this validation action, such as `error`.
    func isEnforced(_ action: String) async throws -> Bool {
        try await validation().isSame(as: Validation(Self.validator, action: action))
    }
}
