import BSON
import Foundation
import Importing
import ServerSchema
import Testing

/// Tests the validators of Prisma models, which accept the documents that a Prisma client can read.
@Suite struct PrismaTests {
    /// Returns the import of a model from a Prisma schema with the given blocks.
    private func imported(_ blocks: String, model: String? = nil) throws -> ImportedSchema {
        let file = NSTemporaryDirectory() + "shipshape-\(UUID().uuidString).prisma"
        let text = "datasource db {\n  provider = \"mongodb\"\n  url = env(\"URL\")\n}\n\(blocks)\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try ImportedSchema(prismaAt: file, model: model)
    }

    @Test(arguments: [
        ("String", #"{"bsonType": ["string", "objectId"]}"#),
        ("String?", #"{"bsonType": ["string", "objectId", "null"]}"#), ("Boolean", #"{"bsonType": "bool"}"#),
        ("Int", #"{"bsonType": ["int", "long", "double", "bool"]}"#),
        ("BigInt", #"{"bsonType": ["int", "long", "bool"]}"#),
        ("DateTime", #"{"bsonType": ["date", "timestamp"]}"#), ("Bytes", #"{"bsonType": ["binData", "objectId"]}"#),
        ("Json", #"{"not": {"bsonType": "null"}}"#), ("Json?", "{}"),
        ("Role", #"{"bsonType": "string", "enum": ["ADMIN", "member"]}"#),
        ("Role?", #"{"bsonType": ["string", "null"], "enum": ["ADMIN", "member", null]}"#),
        ("Boolean[]", #"{"bsonType": ["array", "null"], "items": {"bsonType": "bool"}}"#),
        ("Boolean @default(true)", #"{"bsonType": ["bool", "null"]}"#),
        (
            "Part",
            #"{"title": "Part", "bsonType": "object", "required": ["a", "l"], "properties": {"a": {"bsonType": "bool"}, "l": {"bsonType": ["array", "null"], "items": {"bsonType": "bool"}}}}"#
        ),
        (
            "Part[]",
            #"{"bsonType": ["array", "null"], "items": {"title": "Part", "bsonType": ["object", "null"], "required": ["a", "l"], "properties": {"a": {"bsonType": "bool"}, "l": {"bsonType": ["array", "null"], "items": {"bsonType": "bool"}}}}}"#
        ),
    ]) func aFieldMayHaveTheTypesThatTheClientReads(_ type: String, _ expected: String) throws {
        let schema = try imported(
            """
            model User {
              id String @id @map("_id") @db.ObjectId
              x  \(type)
            }
            type Part {
              a Boolean
              l Boolean[]
            }
            enum Role {
              ADMIN
              MEMBER @map("member")
            }
            """)
        #expect(schema.name == "User")
        #expect(try schema.root["properties"]?.document?["x"] == bson(expected))
        #expect(schema.notes.filter { $0.kind == .warning }.isEmpty)
        let isNeeded = !["?", "[]", ")"].contains { type.hasSuffix($0) }
        #expect(schema.root["required"] == .array(of: ["_id"] + (isNeeded ? ["x"] : [])))
    }

    @Test func aFloatIsNoNaNAndNotInfinite() throws {
        let schema = try imported("model A {\n  id Int @id @map(\"_id\")\n  x Float\n}")
        let field = try #require(schema.root["properties"]?.document?["x"]?.document)
        #expect(field["maximum"] == .double(.greatestFiniteMagnitude))
        #expect(field["minimum"] == .double(-.greatestFiniteMagnitude))
    }

    @Test func namesAreThoseOfTheDocumentsAndDecisionsHaveNotes() throws {
        let schema = try imported(
            """
            model A {
              id  Int @id @map("_id")
              at  DateTime @map("created_at")
              b   B @relation(fields: [bID], references: [id])
              bID Int
            }
            model B {
              id Int @id @map("_id")
              a  A[]
            }
            """, model: "A")
        let names = try #require(schema.root["properties"]?.document).elements().map(\.name)
        #expect(names == ["_id", "created_at", "bID"])
        #expect(
            schema.notes.map { "\($0.location.line) \($0.path): \($0.message)" } == [
                "6 _id: the client reads Int from int, long, double or bool",
                "7 created_at: the client reads DateTime from date or timestamp",
                "9 bID: the client reads Int from int, long, double or bool",
            ])
    }

    @Test func aTypeThatContainsItselfEndsWithAWarning() throws {
        let schema = try imported(
            "model A {\n  id Int @id @map(\"_id\")\n  n Node?\n}\ntype Node {\n  v Boolean\n  next Node?\n}")
        let warnings = schema.notes.filter { $0.kind == .warning }
        #expect(warnings.map(\.message) == ["the type Node contains itself: values here are not checked"])
    }

    @Test func theUserChoosesTheModelByItsNameOrItsCollection() throws {
        let blocks = """
            model User {
              id Int @id @map("_id")
              @@map("users")
            }
            model Order {
              id Int @id @map("_id")
            }
            """
        #expect(try imported(blocks, model: "User").name == "User")
        #expect(try imported(blocks, model: "users").name == "User")
        #expect(throws: SchemaError.self) { try imported(blocks) }
        let unknown = #expect(throws: SchemaError.self) { try imported(blocks, model: "Usr") }
        #expect(unknown?.remedy == "did you mean \"User\"?")
    }
}
