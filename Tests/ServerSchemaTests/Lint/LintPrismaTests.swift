import BSON
import ServerSchema
import Testing

/// Tests lint of Prisma schemas: mistakes that Prisma refuses, and mistakes by which its client loses values or
/// documents.
@Suite struct LintPrismaTests {
    private static func codes(
        _ lines: String, id: String = "id String @id @map(\"_id\") @db.ObjectId", post: String = ""
    ) throws -> [String] {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model User {
              \(id)
              \(lines)
            }
            model Post {
              id String @id @map("_id") @db.ObjectId
              n  Int
              \(post)
            }
            type Address {
              zip Int
            }
            """
        let prisma = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
        var schema = prisma.serverSchema(database: "app")
        schema.prisma = prisma
        return Lint.short(SchemaLint.findings(in: schema))
    }

    @Test func nothingToFind() throws {
        #expect(try Self.codes("a Int @db.Int\n b BigInt @db.Long\n c Float @db.Double\n d Bytes @db.ObjectId") == [])
    }

    @Test func theIDMustBeStoredAsID() throws {
        #expect(try Self.codes("", id: "id String @id @db.ObjectId") == ["id-unmapped error id"])
        #expect(try Self.codes("", id: "id String @id @map(\"key\")") == ["id-unmapped error key"])
    }

    @Test func autoNeedsAnObjectID() throws {
        #expect(try Self.codes("", id: "id String @id @default(auto()) @map(\"_id\")") == ["auto-default error _id"])
        #expect(try Self.codes("x String @default(auto()) @db.ObjectId") == ["auto-default error x"])
    }

    /// `PrismaRefusalTests` has all of Prisma's checks.
    @Test func mongoDBHasNoSequences() throws {
        #expect(try Self.codes("x Int @default(autoincrement())") == ["prisma-refused error x"])
    }

    @Test func nativeTypes() throws {
        #expect(try Self.codes("x Int @db.String") == ["native-type error x"])
        #expect(try Self.codes("x String @db.Long") == ["native-type error x"])
        #expect(try Self.codes("x DateTime @db.Int") == ["native-type error x"])
        #expect(try Self.codes("x Int @db.Long") == ["native-type-lossy warning x"])
    }

    @Test func theKeyOfARelationHasTheTypeOfTheIDThatItNames() throws {
        let relation = "post Post @relation(fields: [postId], references: [id])\n"
        func codes(_ key: String) throws -> [String] { try Self.codes(relation + key, post: "users User[]") }
        #expect(try codes("postId String @db.ObjectId") == [])
        #expect(try codes("postId String") == ["relation-type warning postId"])
        #expect(try codes("postId Int") == ["relation-type error postId"])
    }
}
