import BSON
import TestSupport
import Testing

@testable import Mongo

@Suite struct ErrorTests {
    /// A write is sent again only after an error that proves that the server has not begun it.
    @Test(arguments: [(433, false), (449, false), (450, false), (462, true), (463, true), (473, false)])
    func anOverloadIsKnownByItsCode(_ code: Int, isUnbegun: Bool) {
        let error = MongoError(.server, MongoError.Code(rawValue: code), message: "overload")
        #expect(error.isOverload)
        #expect(error.isRefusedUnbegun == isUnbegun)
    }

    @Test(arguments: [91, 189, 10_107, 11_600, 11_602, 6, 7, 89])
    func errorsOfAFailoverAreTransient(code: Int) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 1)
            let namespace = database.namespace("a")
            let error = try await mongod.failing(.error(code, "update", appName: database.appName)) {
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        _ = try client.collection(namespace).update([UpdateStatement([:], ["$set": ["x": 1]])])
                    }
                }
            }
            #expect(error?.code.rawValue == code)
            #expect(error?.isTransient == true)
        }
    }

    @Test func aTimeLimitHasItsCode() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 1)
            let namespace = database.namespace("a")
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.withClient { client throws(MongoError) in
                    let slow: BSONDocument = [
                        "$where": .javascript("sleep(2000); return true")
                    ]
                    _ = try client.collection(namespace).find(slow, options: ["maxTimeMS": 50]).documents()
                }
            }
            #expect(error.code == .maxTimeMSExpired)
            #expect(error.isTimeLimit)
            #expect(error.codeName == "MaxTimeMSExpired")
        }
    }

    @Test func aDuplicateKeyDoesNotShowTheKey() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run([
                "createIndexes": "a",
                "indexes": [["key": ["email": 1], "name": "email_1", "unique": true]],
            ])
            try await database.fill("a", [["email": "ada@example.com"]])
            let error = try await #require(throws: MongoError.self) {
                try await database.fill("a", [["email": "ada@example.com"]])
            }
            #expect(error.code == .duplicateKey)
            #expect(!"\(error)".contains("ada@example.com"))
            #expect("\(error)".contains("email_1"))
        }
    }

    @Test func aFailedConversionDoesNotShowTheValue() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["x": "my 4711 secret"]])
            let namespace = database.namespace("a")
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.withClient { client throws(MongoError) in
                    _ = try client.collection(namespace).aggregate([["$set": ["x": ["$toInt": "$x"]]]]).documents()
                }
            }
            #expect(error.code == .conversionFailure)
            #expect(!"\(error)".contains("secret"))
            #expect(!"\(error)".contains("4711"))
        }
    }

    /// Expressions that fail on a value of a document, with many different errors.
    private static let failing: [BSONValue] = [
        ["$dateAdd": ["startDate": "$d", "unit": "$s", "amount": 1]],
        ["$dateAdd": ["startDate": "$d", "unit": "day", "amount": 1, "timezone": "$s"]],
        ["$dateDiff": ["startDate": "$d", "endDate": "$d", "unit": "week", "startOfWeek": "$s"]],
        ["$dateTrunc": ["date": "$d", "unit": "day", "binSize": "$n"]],
        ["$dateFromString": ["dateString": "$s"]], ["$dateFromParts": ["year": "$s"]],
        ["$dateFromParts": ["year": "$i"]],
        ["$convert": ["input": "$n", "to": "$s"]], ["$convert": ["input": "$n", "to": "$i"]], ["$toInt": "$s"],
        ["$log": ["$n", 2]], ["$round": ["$n", "$i"]], ["$acos": "$n"], ["$arrayElemAt": [[1], "$n"]],
        ["$arrayToObject": [[["k": "$s", "b": 1]]]], ["$indexOfArray": [[1], 1, "$n"]], ["$range": ["$n", 5]],
        ["$reduce": ["input": "$s", "initialValue": 0, "in": 1]], ["$zip": ["inputs": ["$s"]]],
        ["$firstN": ["n": "$s", "input": [1]]], ["$mergeObjects": ["$s"]], ["$ltrim": ["input": "$n"]],
        ["$replaceOne": ["input": "$n", "find": "a", "replacement": "b"]], ["$substrCP": ["abc", 0, "$n"]],
        ["$regexMatch": ["input": "a", "regex": ["$concat": ["(", "$s"]]]],
    ]

    @Test func aFailedExpressionDoesNotShowTheValue() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill(
                "a", [["s": "4711 SECRET", "n": .double(-7.77531), "i": 987_654_321, "d": .date(milliseconds: 0)]])
            let namespace = database.namespace("a")
            for expression in Self.failing {
                let error = try await #require(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        _ = try client.collection(namespace).aggregate([["$set": ["x": expression]]]).documents()
                    }
                }
                for value in ["4711", "SECRET", "7.7", "9876"] {
                    #expect(!"\(error)".contains(value), "\(expression): \(error)")
                }
                let written = try await #require(throws: MongoError.self) {
                    try await database.run([
                        "update": "a", "updates": [["q": [:], "u": [["$set": ["x": expression]]]]],
                    ])
                }
                for value in ["4711", "SECRET", "7.7", "9876"] { #expect(!"\(written)".contains(value), "\(written)") }
            }
        }
    }

    @Test func aRefusedDocumentDoesNotShowItsValues() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run([
                "create": "a", "validator": ["$jsonSchema": ["properties": ["x": ["bsonType": "int"]]]],
            ])
            let error = try await #require(throws: MongoError.self) { try await database.fill("a", [["x": "hidden"]]) }
            #expect(error.code == .documentValidationFailure)
            #expect(!"\(error)".contains("hidden"))
        }
    }

    @Test func anUnknownCommandAndOptionHaveTheirCodes() async throws {
        try await Mongod.shared.withDatabase { database in
            let command = try await #require(throws: MongoError.self) { try await database.run(["nonsense": 1]) }
            #expect(command.code == .commandNotFound)
            let option = try await #require(throws: MongoError.self) { try await database.run(["find": "a", "zz": 1]) }
            // MongoDB 4.4 reports an unknown option as a parse error.
            #expect([.unknownOption, .failedToParse].contains(option.code))
        }
    }
}
