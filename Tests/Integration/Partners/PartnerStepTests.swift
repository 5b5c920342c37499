import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests each kind of step and each conversion of `_id`s that a partner job supports, with changes in both of its
/// collections.
@Suite(.fencedDeletes) struct PartnerStepTests {
    /// Returns the lines of `jobs/partners/every-step.yml`, which has every kind of step, for the test's collections.
    static func everyKind(_ test: PartnerCase) throws -> String {
        let path = Repository.path("jobs/partners/every-step.yml").string
        let text = try String(contentsOfFile: path, encoding: .utf8).replacing("app.", with: "\(test.database.name).")
        return text.split(separator: "\n").filter { line in
            !["partner:", "source:", "target:"].contains { line.hasPrefix($0) }
        }.joined(separator: "\n")
    }

    static func original(_ number: Int) -> BSONDocument { original(number, title: "t\(number)") }

    static func original(_ number: Int, title: String) -> BSONDocument {
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number &* 7 &+ $0) }
        return [
            "_id": .integer(number), "title": .string(title), "priority": .integer(number % 5),
            "scores": [1, .integer(number)], "code": .binary(subtype: 4, bytes: bytes), "first": "Ada",
            "last": .string("L\(number)"), "label": .string("l\(number)"), "box": ["value": .integer(number)],
            "colours": ["red", "blue"], "notes": ["a", .string("\(number)")], "owner": .integer(1 + number % 2),
            "parent": .integer(number % 3), "cents": .integer(number), "legacy": "old",
        ]
    }

    @Test func everyKindOfStepLeadsThereAndBack() async throws {
        try await Mongod.shared.withPartner { test in
            let database = test.database
            try test.job(Self.everyKind(test))
            try await database.fill("Key", count: 3) { ["_id": .integer($0), "to": .string("key \($0)")] }
            try await database.fill("Task", count: 30, Self.original)
            let made = try await test.run("init")
            #expect(made.exitCode == 0, "\(made.errors)\(made.output)")
            let seventh = try #require(try await database.documents("TaskV2", ["_id": 7]).first)
            #expect(seventh["name"] == "t7" && seventh["sortTitle"] == "t7" && seventh["title"] == nil)
            #expect(
                seventh["priority"] == "2" && seventh["scores"] == ["1", "7"] && seventh["code"]?.text?.count == 36)
            #expect(seventh["full"] == "Ada L7" && seventh["first"] == nil && seventh["label"] == ["l7"])
            #expect(seventh["box"] == 7 && seventh["owner"] == 20 && seventh["parent"] == "key 1")
            #expect(seventh["cents"] == 107 && seventh["status"] == "open" && seventh["key"] != nil)
            #expect(try await test.differences()["difference_count"] == 0)

            try await database.update(
                "TaskV2", ["_id": 7],
                [
                    "$set": [
                        "name": "u7", "sortTitle": "u7", "priority": "9", "scores": ["5"], "full": "Eve Lovelace",
                        "label": ["m"], "box": 70, "colours": ["green"], "notes": [], "owner": 10, "parent": "key 2",
                        "cents": 200, "status": "done",
                    ]
                ])
            try await database.update(
                "Task", ["_id": 8], ["$set": ["title": "v8", "owner": 2, "parent": 0, "cents": 1, "first": "Bob"]])
            try await database.delete("TaskV2", ["_id": 9])
            try await database.fill("Task", [Self.original(100)])
            let run = try await test.run("mirror", "--once", "-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            #expect(report["to_source"] == 2 && report["to_target"] == 2, "\(run.output)\(run.errors)")
            #expect(report["refused"] == 0 && report["conflicts"] == 0)
            let back = try #require(try await database.documents("Task", ["_id": 7]).first)
            #expect(back["title"] == "u7" && back["priority"] == 9 && back["scores"] == [5] && back["first"] == "Eve")
            #expect(back["last"] == "Lovelace" && back["label"] == "m" && back["box"] == ["value": 70])
            #expect(back["owner"] == 1 && back["parent"] == 2 && back["cents"] == 100 && back["legacy"] == "old")
            let there = try #require(try await database.documents("TaskV2", ["_id": 8]).first)
            #expect(there["name"] == "v8" && there["full"] == "Bob L8" && there["parent"] == "key 0")
            #expect(try await database.count("Task", ["_id": 9]) == 0)
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func aKeyThatTheLookupLacksIsRefused() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job(Self.everyKind(test))
            try await test.database.fill("Task", count: 5, Self.original)
            let without = try await test.run("init")
            #expect(without.exitCode == 65, "\(without.errors)")
            #expect(without.errors.contains("\(test.database.name).Key"), "\(without.errors)")
            try await test.database.fill("Key", count: 2) { ["_id": .integer($0), "to": .string("key \($0)")] }
            let run = try await test.run("init")
            #expect(run.exitCode == 1)
            #expect(run.output.contains("1 document cannot be carried over without loss"), "\(run.output)")
            #expect(run.output.contains("the lookup does not know the value, such as _id 2"), "\(run.output)")
        }
    }

    /// A conversion of `_id`s from one type to another, with the steps that convert a link in each direction.
    ///
    /// `make` returns the `_id` of the original document with a given number.
    struct Key: Sendable, CustomTestStringConvertible {
        var from: String
        var to: String
        var forward: String
        var reverse: String
        var make: @Sendable (Int) -> BSONValue

        var testDescription: String { "\(from) to \(to)" }
        static func uuid(_ number: Int) -> BSONValue {
            .binary(subtype: 4, bytes: (0..<16).map { UInt8(truncatingIfNeeded: number &+ $0 &* 3) })
        }
        static func objectID(_ number: Int) -> BSONValue { .objectID(PartnerCase.id(number)) }
        /// Returns an even number as 32 bits and an odd one as 64 bits, because drivers write integers of both widths.
        static func int(_ number: Int) -> BSONValue {
            number % 2 == 0 ? .int(Int32(number)) : .long(Int64(number) + (number % 3 == 0 ? 1 << 40 : 0))
        }
        static let text = "convert: {field: parent, to: string}"

        static let all: [Key] = [
            Key(
                from: "objectId", to: "string", forward: text, reverse: "convert: {field: parent, to: objectId}",
                make: objectID),
            Key(
                from: "uuid", to: "string", forward: "convert: {field: parent, from: uuid, to: string}",
                reverse: "convert: {field: parent, to: uuid}", make: uuid),
            Key(
                from: "int", to: "string", forward: text, reverse: "convert: {field: parent, to: long}",
                make: { .long(Int64($0) + 1 << 40) }),
            Key(
                from: "string", to: "objectId", forward: "convert: {field: parent, to: objectId}", reverse: text,
                make: { .string("\(PartnerCase.id($0))") }),
            Key(
                from: "string", to: "int", forward: "convert: {field: parent, to: int}", reverse: text,
                make: { .string("\($0)") }),
            Key(
                from: "string", to: "uuid", forward: "convert: {field: parent, to: uuid}",
                reverse: "convert: {field: parent, from: uuid, to: string}",
                make: { number in
                    let hex = String(number, radix: 16)
                    return .string("00112233-4455-6677-8899-\(String(repeating: "0", count: 12 - hex.count))\(hex)")
                }),
        ]
    }

    @Test(arguments: Key.all) func everyKindOfIDLeadsThereAndBackWithItsLinks(_ key: Key) async throws {
        try await Mongod.shared.withPartner { test in
            try test.job(
                """
                id: {from: \(key.from), to: \(key.to)}
                forward: [\(key.forward)]
                reverse: [\(key.reverse)]
                """)
            try await test.database.fill("Task", count: 40) { number in
                ["_id": key.make(number + 1), "parent": key.make(number / 2 + 1), "n": 0]
            }
            let made = try await test.run("init")
            #expect(made.exitCode == 0, "\(made.errors)\(made.output)")
            let partners = try await test.database.documents("TaskV2")
            let ids = Set(partners.compactMap { $0["_id"].map { IDKey($0) } })
            #expect(ids.count == 40)
            #expect(partners.allSatisfy { $0["parent"].map { ids.contains(IDKey($0)) } ?? false })
            let some = try #require(partners.first { $0["n"] == 0 }?["_id"])
            try await test.database.update("TaskV2", ["_id": some], ["$set": ["n": 1]])
            try await test.database.update("Task", ["_id": key.make(30)], ["$set": ["n": 2]])
            try await test.database.delete("Task", ["_id": key.make(31)])
            try await test.database.fill("Task", [["_id": key.make(77), "parent": key.make(1), "n": 3]])
            let run = try await test.run("mirror", "--once", "-o", "json")
            let report = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
            #expect(report["refused"] == 0 && report["to_source"] == 1 && report["to_target"] == 3, "\(run.output)")
            #expect(try await test.database.count("Task", ["n": 1]) == 1)
            #expect(try await test.database.count("TaskV2", ["n": 3]) == 1)
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    @Test func wholeNumbersOfBothWidthsKeepTheirs() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job("id: {from: int, to: string}")
            try await test.database.fill("Task", count: 20) { ["_id": Key.int($0 + 1), "n": 0] }
            #expect(try await test.run("init").exitCode == 0)
            try await test.database.run([
                "update": "TaskV2", "updates": [["q": [:], "u": ["$set": ["n": 1]], "multi": true]],
            ])
            let run = try await test.run("mirror", "--once", "-o", "json")
            let report = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
            #expect(report["refused"] == 0 && report["to_source"] == 20, "\(run.output)\(run.errors)")
            let types = try await test.database.documents("Task").compactMap { $0["_id"]?.type }
            #expect(types.count { $0.description == "long" } == 10, "\(types)")
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }
}
