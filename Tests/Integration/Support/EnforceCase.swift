import BSON
import JobState
import Mongo
import SystemPackage
import TestSupport
import Testing

/// A collection on its way to a validator.
extension BackfillCase {
    /// A name has to be there, and to be a text.
    static let validator: BSONDocument = [
        "$jsonSchema": [
            "bsonType": "object", "required": ["name"], "properties": ["name": ["bsonType": "string", "minLength": 1]],
        ]
    ]

    /// What is there before, of an operator with ways of their own.
    static let earlier: BSONDocument = ["$jsonSchema": ["required": ["_id"], "title": "the old one"]]

    /// Makes a collection with so many documents, some of which do not fit, and writes the validator's file.
    func prepareRoad(count: Int = 20, misfits: Int = 0, under earlier: BSONDocument? = nil) async throws {
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

    /// Runs `shipshape enforce` off a terminal.
    @discardableResult
    func enforce(
        _ flags: String..., uri: String? = nil, fault: String? = nil,
        meanwhile: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let file = flags.contains("--abort") ? [] : [folder.appending("validator.json").string]
        return try await Program.run(
            ["enforce"] + file + flags + [
                "--collection", "\(database.name).people", "--state-database", state.name, "--uri", uri ?? self.uri,
            ], fault: fault, meanwhile: meanwhile)
    }

    /// How the collection judges what is written to it.
    func validation() async throws -> Validation {
        let namespace = database.namespace("people")
        let info = try await database.pool.withClient { client throws(MongoError) in
            try client.collectionInfo(namespace)
        }
        return try #require(info).validation
    }

    /// Whether the collection is at the validator with an action.
    func isEnforced(_ action: String) async throws -> Bool {
        try await validation().isSame(as: Validation(Self.validator, action: action))
    }
}
