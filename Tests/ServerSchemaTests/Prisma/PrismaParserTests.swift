import BSON
import ServerSchema
import Testing

/// Tests the errors of a Prisma schema, which state their position and, in most cases, how to fix them.
@Suite struct PrismaParserTests {
    static let head = "datasource db {\n  provider = \"mongodb\"\n}\n"

    private static func read(_ text: String) throws(SchemaError) -> PrismaSchema {
        try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
    }

    private static func errors(_ text: String) -> [String] {
        do throws(SchemaError) {
            _ = try read(text)
            return []
        } catch {
            return ([error] + error.others).map(\.description)
        }
    }

    /// Returns a schema with one model, which consists of the given lines and an id.
    ///
    /// The first of the lines is line 5 of the schema.
    private static func model(_ lines: String, _ id: String = "id String @id @map(\"_id\")") -> String {
        "\(head)model User {\n\(lines)\n\(id)\n}\n"
    }

    static let refusals = [
        Refusal(model("age Int32"), #"s.prisma:5:5: unknown type "Int32""#),
        Refusal(
            model("age Decimal"),
            #"s.prisma:5:5: unknown type "Decimal" (Prisma has no Decimal on MongoDB: use Float or String)"#),
        Refusal(model("age"), #"s.prisma:5:4: expected the type of "age", not the end of the line"#),
        Refusal(
            model("_age Int"),
            #"s.prisma:5:1: a name must begin with a letter, not "_age" (name it otherwise, and add @map("_age") for its "#
                + "name in the database)"),
        Refusal(model("age Int?[]"), "s.prisma:5:9: expected the end of the line, not '['"),
        Refusal(
            model("age Int[]?"),
            "s.prisma:5:10: a list cannot be optional (remove '?': a missing list reads as an empty one)"),
        Refusal(model("age Int @mapp(\"x\")"), "s.prisma:5:10: a field has no attribute @mapp (did you mean @map?)"),
        Refusal(
            model("age Int @map"),
            "s.prisma:5:10: @map needs one argument, a name in quotation marks (write @map(\"name\"))"),
        Refusal(
            model("age Int @map(x)"),
            "s.prisma:5:14: @map needs one argument, a name in quotation marks (write @map(\"name\"))"),
        Refusal(
            model("age Int @map(\"a.b\")"),
            "s.prisma:5:10: @map: the name of a stored field cannot begin with $ or have a dot in it"),
        Refusal(
            model("age Int @default(\"5\")"), "s.prisma:5:18: @default needs a whole number, not a string"),
        Refusal(model("age Int @default(1.5)"), "s.prisma:5:18: @default needs a whole number, not 1.5"),
        Refusal(model("age Int @default()"), "s.prisma:5:10: @default needs one value (write @default(…))"),
        Refusal(
            model("at DateTime @default(noww())"),
            #"s.prisma:5:22: @default: there is no function noww() (did you mean "now"?)"#),
        Refusal(
            model("at DateTime @default(\"yesterday\")"),
            #"s.prisma:5:22: @default needs a string with a time such as "2026-11-30T12:00:00Z", not a string"#),
        Refusal(
            model("tags String[] @default(\"x\")"),
            "s.prisma:5:24: the default of a list must be a list (write @default([…]))"),
        Refusal(
            model("age Int @db.Integer"),
            #"s.prisma:5:10: MongoDB has no native type "Integer" (it has ObjectId, String, Int, Long, Double, Bool, "#
                + "Date, Timestamp, BinData, Json)"),
        Refusal(model("age Int @map(\"a\") @map(\"b\")"), "s.prisma:5:20: @map is written twice on this field"),
        Refusal(
            model("age Int\nage Int"),
            #"s.prisma:6:1: model "User" has the field "age" twice (rename or remove one; the first is at s.prisma:5:1)"#
        ),
        Refusal(
            model("age Int\nold Int @map(\"age\")"),
            #"s.prisma:6:1: model "User" has the stored field "age" twice (rename or remove one; the first is at "#
                + "s.prisma:5:1)"),
        Refusal(
            model("age Int", ""),
            #"s.prisma:4:7: model "User" has no field with @id (add id String @id @default(auto()) @map("_id") "#
                + "@db.ObjectId)"),
        Refusal(
            model("a Int @id", "id Int @id"),
            #"s.prisma:6:1: model "User" has two fields with @id (remove one; the first is at s.prisma:5:1)"#),
        Refusal(
            model("", "id Int? @id"), "s.prisma:6:1: the @id must be required (remove '?' or '[]' from its type)"),
        Refusal(
            model("@@id([a, b])", "a Int\nb Int"),
            "s.prisma:5:3: MongoDB has no ids of several fields (mark one field with @id @map(\"_id\"))"),
        Refusal(model("@@indexx([id])"), "s.prisma:5:3: a model has no attribute @@indexx (did you mean @@index?)"),
        Refusal(
            model("age Int @@map(\"x\")"),
            "s.prisma:5:9: '@@' begins an attribute of the whole model (write '@', or give it a line of its own)"),
        Refusal(
            model("posts Post[]") + "type Post {\n  a Int\n}\ntype Post {\n  a Int\n}\n",
            #"s.prisma:11:6: a second type with the name "Post" (rename or remove one; the first is at s.prisma:8:6)"#),
        Refusal(
            model("") + "model Person {\n  id Int @id\n  @@map(\"User\")\n}\n",
            #"s.prisma:8:7: the models "User" and "Person" have the same collection "User" (change one @@map; "User" "#
                + "is at s.prisma:4:7)"),
        Refusal(
            model("a A") + "type A {\n  user User\n}\n",
            #"s.prisma:9:8: a type cannot have a field of the model "User" (make "User" a type, or store its id)"#),
        Refusal(
            model("a A") + "type A {\n  id Int @id\n}\n",
            "s.prisma:9:3: a type has no @id: only models have one (remove @id)"),
        Refusal(
            model("r R @default(ADMN)") + "enum R {\n  ADMIN\n}\n",
            #"s.prisma:5:14: @default needs a value of the enum R, not "ADMN" (did you mean "ADMIN"?)"#),
        Refusal(model("r R") + "enum R {\n}\n", #"s.prisma:8:6: the enum "R" has no values"#),
        Refusal(
            model("boss User? @relation(fields: [bossId], references: [id])"),
            #"s.prisma:5:1: @relation of "boss": model "User" has no field "bossId" (did you mean "boss"?)"#),
        Refusal(
            model("boss User? @relation(field: [id])"),
            #"s.prisma:5:22: @relation has no argument "field" (did you mean "fields"?)"#),
        Refusal(
            model("name String @default(\"x)"),
            "s.prisma:5:22: this string does not end on its line (end it with a quotation mark; a line break in it is "
                + "written \\n)"),
        Refusal(
            "modl User {\n}\n",
            #"s.prisma:1:1: expected a block such as model, type or enum, not "modl" (did you mean "model"?)"#),
        Refusal(
            "model User {\n  id Int @id\n}\n",
            "s.prisma: there is no datasource block, which says that the schema is for MongoDB (give the whole folder, "
                + "or add datasource db { provider = \"mongodb\" … })"),
        Refusal(
            "datasource db {\n  provider = \"postgresql\"\n}\nmodel User {\n  id Int @id\n}\n",
            #"s.prisma:2:14: the provider is "postgresql", and not "mongodb" (only a schema for MongoDB describes "#
                + "documents)"),
        Refusal(
            head + "model User {\n  id Int @id\n",
            #"s.prisma:4:7: the model "User" has no end (end it with '}')"#),
        Refusal(
            head + "type Text = String\n",
            "s.prisma:4:11: a type that is a second name of another type is not supported (write the other type where "
                + "this one is used)"),
        Refusal(head + "/* x\n", "s.prisma:4:1: this comment has no end (end it with */)"),
    ]

    @Test(arguments: refusals) func aMistakeIsRefusedWithItsPlace(_ refusal: Refusal) {
        // The same mistake may cause another error as well.
        #expect(Self.errors(refusal.text).contains(refusal.error), "\(Self.errors(refusal.text))")
    }

    /// All errors of all files are reported, in the order of the files and their lines.
    @Test func allErrorsOfAllFiles() throws {
        let files = [
            SchemaSource(path: "b.prisma", text: Self.head + "model B {\n  id Int @id\n  x Strin\n  y Int @map\n}\n"),
            SchemaSource(path: "a.prisma", text: "enum A {\n  X @foo\n}\nmodel C {\n  id Int @id\n  = 5\n}\n"),
        ]
        let error = #expect(throws: SchemaError.self) { try PrismaSchema(files: files) }
        #expect(
            ([error] + (error?.others ?? [])).compactMap { $0?.location.description } == [
                "b.prisma:6:5", "b.prisma:7:10", "a.prisma:2:6", "a.prisma:6:3",
            ])
    }

    /// A block without an end does not hide the errors of the next one.
    @Test func aBlockWithoutAnEnd() {
        #expect(
            Self.errors("\(Self.head)model A {\n  id Int @id\n\nmodel B {\n  id Int @id\n  x Foo\n}\n") == [
                #"s.prisma:4:7: the model "A" has no end (end it with '}')"#, #"s.prisma:9:5: unknown type "Foo""#,
            ])
    }

    /// The schema has most of what the syntax allows, including ignored blocks and attributes that have no effect here.
    @Test func theWholeSyntax() throws {
        let schema = try Self.read(
            """
            // A comment.
            generator client {
              provider        = "prisma-client-js"
              previewFeatures = ["views"]
            }
            datasource db {
              provider = "mongodb" // the only one
              url      = env("DATABASE_URL")
            }

            /// A user.
            model User {
              id       String   @id @default(auto()) @map("_id") @db.ObjectId
              email    String   @unique
              name     String?  @default("A \\"B\\" \\u00e9")
              born     DateTime @default("2026-11-30T12:00:00Z") /// documented
              score    Float    @default(-1.5)
              seen     DateTime @updatedAt
              role     Role     @default(ADMIN)
              tags     String[] @default(["a", "b"])
              raw      Bytes    @default("AQI=")
              bossId   String?  @db.ObjectId
              boss     User?    @relation("boss", fields: [
                bossId,
              ], references: [id], onDelete: NoAction, onUpdate: NoAction)
              staff    User[]   @relation("boss")
              home     Address?
              geometry Unsupported("geometry")?
              secret   String   @ignore
              ids      String[] @db.Array(ObjectId)

              @@unique([email, name(sort: Desc)], map: "one")
              @@index([tags])
              @@map("users")
            }

            type Address {
              city String @map("town")
            }

            enum Role {
              ADMIN
              USER @map("user")
              @@map("roles")
            }

            model Old {
              id Int @id @map("_id")
              @@ignore
            }

            view Names {
              id Int @unique
            }
            """)
        let user = try #require(schema.model("User"))
        #expect(user.collection == "users")
        #expect(
            user.fields.filter(\.isRead).map(\.storedName) == [
                "_id", "email", "name", "born", "score", "seen", "role", "tags", "raw", "bossId", "home", "ids",
            ])
        #expect(user["name"]?.defaultValue == .constant("A \"B\" é"))
        #expect(user["born"]?.defaultValue == .constant(.date(milliseconds: 1_796_040_000_000)))
        #expect(user["score"]?.defaultValue == .constant(-1.5))
        #expect(user["role"]?.defaultValue == .constant("ADMIN"))
        #expect(user["tags"]?.defaultValue == .list)
        #expect(user["raw"]?.defaultValue == .constant(.binary(subtype: 0, bytes: [1, 2])))
        #expect(user["ids"]?.nativeType?.type == .objectId)
        #expect(user["boss"]?.relation?.fields == ["bossId"])
        #expect(schema.type("Address")?["city"]?.storedName == "town")
        #expect(schema.enumeration("Role")?.values.map(\.storedName) == ["ADMIN", "user"])
        #expect(schema.model("Old")?.isIgnored == true)
        #expect(schema.notes.map(\.description) == [#"s.prisma:52:6: the view "Names" is not judged"#])
    }

    @Test func windowsLinesAndAByteOrderMark() throws {
        let text = "\u{FEFF}\(Self.head)model User {\n  id Int @id\n}\n".replacing("\n", with: "\r\n")
        #expect(try Self.read(text).models.map(\.name) == ["User"])
    }
}
