import BSON
import Foundation
import ServerSchema
import Testing

/// Tests how a Prisma schema is converted for checks, and in which database its collections are.
@Suite struct PrismaReadingTests {
    private static func folder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        try body(folder.path)
    }

    private static let source =
        "datasource db {\n  provider = \"mongodb\"\n  url = \"mongodb://u:p@a,b/shop?ssl=true\"\n}\n"
    private static let user = "model User {\n  id String @id @map(\"_id\") @db.ObjectId\n  n Int @db.Int\n}\n"
    private static let order = "model Order {\n  id BigInt @id @map(\"_id\")\n  @@map(\"orders\")\n}\n"

    @Test func aFolderIsOneSchemaWithAllFilesBelow() throws {
        try Self.folder([
            "schema.prisma": Self.source, "models/user.prisma": Self.user, "models/a/o.prisma": Self.order,
        ]) {
            let schema = try ServerSchema.read(at: $0)
            #expect(schema.dialect == .prisma)
            #expect(schema.collections.map(\.namespace.description) == ["shop.User", "shop.orders"])
            #expect(schema.sources.map(\.path) == ["models/a/o.prisma", "models/user.prisma", "schema.prisma"])
            let user = schema.collections[0].root
            #expect(user.location.description.hasSuffix("models/user.prisma:1:7"))
            #expect(user.property("_id")?.types == [.objectId])
            #expect(user.property("n")?.types == [.int])
        }
    }

    @Test func theDatabaseIsThatOfTheCallerElseOfTheCollectionElseOfTheURL() throws {
        try Self.folder(["s.prisma": Self.source + Self.user + Self.order]) { folder throws in
            let path = folder + "/s.prisma"
            func names(_ namespace: String?, _ database: String?) throws -> [String] {
                let schema = try ServerSchema.read(
                    at: path, namespace: namespace.flatMap { Namespace($0) }, database: database)
                return schema.collections.map(\.namespace.description)
            }
            #expect(try names(nil, nil) == ["shop.User", "shop.orders"])
            #expect(try names(nil, "app") == ["app.User", "app.orders"])
            #expect(try names("app.orders", nil) == ["app.orders"])
            #expect(try ServerSchema.read(at: path, namespace: Namespace("app.orders")).neighbours.count == 1)
            let error = #expect(throws: SchemaError.self) { try names("app.order", nil) }
            #expect(
                error?.description == "\(path): no model has the collection app.order (did you mean \"app.orders\"?)")
        }
    }

    @Test func withoutADatabaseTheErrorSaysWhereItCanBeGiven() throws {
        let source = "datasource db {\n  provider = \"mongodb\"\n  url = env(\"NO_SUCH_VARIABLE\")\n}\n"
        try Self.folder(["s.prisma": source + Self.user]) { folder in
            let error = #expect(throws: SchemaError.self) { try ServerSchema.read(at: folder + "/s.prisma") }
            #expect(
                error?.description
                    == "\(folder)/s.prisma: a Prisma schema names collections, but no database (write database: NAME "
                    + "into shipshape.yml, or set SHIPSHAPE_DATABASE=NAME, or set NO_SUCH_VARIABLE)"
            )
        }
    }

    /// Prisma reads the variable from a file `.env`; only the database's name is taken from there.
    @Test(arguments: [
        ("NO_SUCH_VARIABLE='mongodb://ada:secret@db1/shop?retryWrites=true'", "shop"),
        ("# NO_SUCH_VARIABLE=mongodb://db1/no\nexport NO_SUCH_VARIABLE = \"mongodb+srv://db1/shop\"\r", "shop"),
        ("OTHER=mongodb://db1/no\nNO_SUCH_VARIABLE=mongodb://db1/\n", nil), ("NO_SUCH_VARIABLE=\n", nil),
    ])
    func theDatabaseOfTheVariableMayBeInAFile(_ text: String, _ database: String?) throws {
        let source = "datasource db {\n  provider = \"mongodb\"\n  url = env(\"NO_SUCH_VARIABLE\")\n}\n"
        for place in [".env", "prisma/.env"] {
            try Self.folder(["prisma/s.prisma": source + Self.user, place: text]) { folder in
                let read = try? ServerSchema.read(at: folder + "/prisma/s.prisma")
                #expect(read?.collections.first?.namespace.database == database)
            }
        }
    }

    @Test(arguments: [
        ("mongodb://localhost:27017/app", "app"), ("mongodb+srv://u:p%2F@c.example.net/app?retryWrites=true", "app"),
        ("mongodb://localhost:27017", nil), ("mongodb://localhost:27017/?ssl=true", nil), ("app", nil),
    ])
    func theDatabaseOfAConnectionString(_ url: String, _ database: String?) {
        #expect(PrismaSchema.database(of: url) == database)
    }

    @Test func theConvertedSchema() throws {
        let text = """
            \(Self.source)model User {
              key   Int       @id
              name  String    @default("x")
              home  Address?
              roles Role[]
              meta  Json?
              at    DateTime  @default(now())
            }
            type Address {
              zip Int @db.Int @default(5)
            }
            enum Role {
              A @map("a")
            }
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "s", text: text)]).serverSchema(database: "app")
        let root = try #require(schema.collections.first?.root)
        #expect(root.title == "User")
        // An @id field that is not mapped is read as _id, because Prisma allows no other name; lint reports the field.
        #expect(root.required == ["_id", "name", "at"])
        #expect(root.properties.map(\.name) == ["_id", "name", "home", "roles", "meta", "at"])
        #expect(root.properties.map(\.clientName) == ["key", nil, nil, nil, nil, nil])
        #expect(
            root.properties.map { $0.node.expectation() } == [
                "Int", "String", "embedded Address", "list of enum Role", "Json", "DateTime",
            ])
        #expect(root.property("name")?.defaultValue == "x")
        #expect(root.property("home")?.property("zip")?.defaultValue == 5)
        #expect(root.property("at")?.defaultValue == nil)
        guard case .each(let role)? = root.property("roles")?.items else {
            throw SchemaError(.syntax, at: root.location, "")
        }
        #expect(role.constraints.allowedValues == ["a"])
    }

    /// If a schema is written as text and read again, it is the same schema.
    @Test func theTextOfASchema() throws {
        let text = """
            datasource db {
              provider = "mongodb"
              url      = env("DATABASE_URL")
            }

            generator client {
              provider = "prisma-client-js"
            }

            model User {
              id   String   @id @default(auto()) @map("_id") @db.ObjectId
              home Address?
              role Role[]   @map("user role")

              @@map("users")
            }

            type Address {
              zip Int
            }

            enum Role {
              A
              B_C @map("b c")
            }

            """
        #expect(try PrismaSchema(files: [SchemaSource(path: "s", text: text)]).text == text)
    }
}
