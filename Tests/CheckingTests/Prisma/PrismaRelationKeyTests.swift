import BSON
import Checking
import ServerSchema
import Testing

/// Tests which keys a document of a Prisma model holds: as the client writes them into its query for the related
/// document.
@Suite struct PrismaRelationKeyTests {
    private static let id = ObjectID(high: 1, low: 2)

    /// Compiles the model `User` with a key `k` and a relation to the field `r` of the model `Other`.
    private func schema(_ key: String, _ reference: String, _ relation: String = "Other") throws -> CompiledSchema {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model User {
              id Int @id @map("_id")
              k \(key)
              o \(relation) @relation(fields: [k], references: [r])
            }
            model Other {
              id Int @id @map("_id")
              r \(reference) @unique @map("stored")
              users User[]
            }
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
        return CompiledSchema(try #require(schema.serverSchema(database: "app").collections.last))
    }

    @Test(
        arguments: [
            ("String @db.ObjectId", "String @db.ObjectId", .objectID(id), .objectID(id)),
            ("String @db.ObjectId", "String @db.ObjectId", .string("\(id)"), .objectID(id)),
            ("String @db.ObjectId", "String @db.ObjectId", "bob", nil),
            ("String", "String", .objectID(id), .string("\(id)")), ("String", "String", "a", "a"),
            ("String", "String", 1, nil), ("Int", "Int", 7, .long(7)), ("Int", "Int", 7.0, .long(7)),
            ("Int", "Int", true, .long(1)), ("Int", "Int", "7", nil), ("Int", "Int", .null, nil),
            ("Bytes", "Bytes", .binary(subtype: 4, bytes: [1]), .binary(subtype: 0, bytes: [1])),
        ] as [(String, String, BSONValue, BSONValue?)])
    func aKeyIsConvertedToTheTypeOfItsReference(
        _ key: String, _ reference: String, _ stored: BSONValue, _ written: BSONValue?
    ) throws {
        let schema = try schema(key, reference)
        let found = try schema.linkedKeys(of: (["_id": 1, "k": stored] as BSONDocument).view)
        #expect(found.map(\.key.value) == (written.map { [$0] } ?? []))
        #expect(found.allSatisfy { $0.type == stored.type })
        #expect(try schema.linkedKeys(of: (["_id": 1] as BSONDocument).view) == [])
        let target = try #require(schema.linkTargets.first)
        #expect(target.namespace == Namespace(database: "app", collection: "Other") && target.fields == ["stored"])
    }

    @Test func aListHoldsManyKeys() throws {
        let schema = try schema("String[] @db.ObjectId", "String @db.ObjectId", "Other[]")
        let document: BSONDocument = ["_id": 1, "k": [.objectID(Self.id), nil, "bob", .string("\(Self.id)")]]
        #expect(
            try schema.linkedKeys(of: document.view).map(\.key.value) == [.objectID(Self.id), .objectID(Self.id)])
    }

    /// A client that reads a part of a key as null looks no document up.
    @Test func aCompoundKeyIsWholeOrNone() throws {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model Other {
              id Int @id @map("_id")
              a Int
              b String
              users User[]
              @@unique([a, b])
            }
            model User {
              id Int @id @map("_id")
              x Int?
              y String?
              o Other? @relation(fields: [x, y], references: [a, b])
              p Other? @relation("p", fields: [x, y], references: [a, b])
              q Gone? @relation(fields: [x], references: [id])
            }
            model Gone {
              id Int @id @map("_id")
              users User[]
              @@ignore
            }
            """
        let read = try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
        let schema = CompiledSchema(try #require(read.serverSchema(database: "app").collections.last))
        // The client has no relation to a model that it ignores.
        #expect(schema.linkTargets.map(\.fields) == [["a", "b"], ["a", "b"]])
        let keys = try schema.linkedKeys(of: (["_id": 1, "x": 1.0, "y": "z"] as BSONDocument).view)
        #expect(keys.map(\.key.value) == [[.long(1), "z"], [.long(1), "z"]])
        #expect(schema.linkTargets[0].filter([keys[0].key.value]) == ["$or": [["a": .long(1), "b": "z"]]])
        for document: BSONDocument in [["_id": 1, "x": 1], ["_id": 1, "x": 1, "y": nil], ["_id": 1, "y": "z"]] {
            #expect(try schema.linkedKeys(of: document.view) == [])
        }
    }
}
