import BSON
import Foundation
import Testing

@testable import ServerSchema

/// Tests the validators that are read from a contract of Prisma 8, in each of its forms.
@Suite struct ContractTests {
    private func read(_ files: [String: String], _ path: String = "") throws -> ServerSchema {
        let folder = try AppFolder(files)
        return try ServerSchema.read(at: folder.path + path, named: path, database: "shop")
    }

    private func failures(_ text: String, _ file: String = "/contract.prisma") -> [String] {
        do {
            _ = try read([String(file.dropFirst()): text], file)
            return []
        } catch {
            guard let error = error as? SchemaError else { return ["\(error)"] }
            return ([error] + error.others).map { "\($0)" }
        }
    }

    private func validators(_ schema: ServerSchema) throws -> [String: BSONValue] {
        var result: [String: BSONValue] = [:]
        for collection in schema.collections {
            let sorted = try Self.sorted(.object(collection.root.jsonSchema))
            result[collection.namespace.collection] = sorted
        }
        return result
    }

    /// Returns the value with the members of objects, and the names in `required`, in alphabetical order.
    private static func sorted(_ value: BSONValue, of name: String = "") throws -> BSONValue {
        switch value {
        case .object(let document):
            let members = try document.elements().map { ($0.name, try sorted($0.value, of: $0.name)) }
            return .object(BSONDocument(members.sorted { $0.0 < $1.0 }))
        case .array(let document):
            let elements = try document.elements().map { try sorted($0.value) }
            guard name == "required" else { return .array(of: elements) }
            return .array(of: elements.sorted { "\($0)" < "\($1)" })
        default: return value
        }
    }

    /// A contract with a part of each kind, without the comment that marks it.
    static let blog = """
        enum Mood {
          @@type("mongo/int32@1")
          Good = 1
          Bad  = 2
        }
        enum Role { Admin = "admin" }

        type Place {
          city String
          zip  String?
        }

        model User {
          id    ObjectId @id @map("_id")
          role  Role?
          home  Place?
          tags  String[]
          marks Float[]?
          posts Post[]
          @@map("users")
        }

        model Post {
          id       ObjectId @id @map("_id")
          kind     String   @map("k")
          mood     Mood
          authorId ObjectId @map("author")
          author   User     @relation(fields: [authorId], references: [id])
          @@discriminator(kind)
          @@index([authorId, mood(sort: Desc)], filter: "{\\"a\\": 1}")
        }
        model Talk {
          minutes Int
          place   Place
          @@base(Post, "talk")
        }
        model Note {
          done Boolean?
          at   DateTime
          @@base(Post, "note")
        }
        """.replacing("enum Role { Admin = \"admin\" }", with: "enum Role {\n  Admin = \"admin\"\n  User\n}")

    /// The validators that Prisma 8 makes from ``blog``, by its rules.
    private static let ofBlog = """
        {"users": {"bsonType": "object", "additionalProperties": false, "required": ["_id", "tags"], "properties": {
           "_id": {"bsonType": "objectId"},
           "role": {"bsonType": ["null", "string"], "enum": ["admin", "User", null]},
           "home": {"oneOf": [{"bsonType": "null"}, {"bsonType": "object", "additionalProperties": false,
             "required": ["city"], "properties": {"city": {"bsonType": "string"}, "zip": {"bsonType": ["null", "string"]}}}]},
           "tags": {"bsonType": "array", "items": {"bsonType": "string"}},
           "marks": {"bsonType": "array", "items": {"bsonType": "double"}}}},
         "post": {"bsonType": "object", "required": ["_id", "k", "mood", "author"], "properties": {
           "_id": {"bsonType": "objectId"}, "k": {"bsonType": "string"}, "mood": {"bsonType": "int", "enum": [1, 2]},
           "author": {"bsonType": "objectId"}}, "oneOf": [
             {"required": ["k", "minutes", "place"], "additionalProperties": false, "properties": {
               "_id": {"bsonType": "objectId"}, "k": {"enum": ["talk"]}, "mood": {"bsonType": "int", "enum": [1, 2]},
               "author": {"bsonType": "objectId"}, "minutes": {"bsonType": "int"},
               "place": {"bsonType": "object", "additionalProperties": false, "required": ["city"],
                 "properties": {"city": {"bsonType": "string"}, "zip": {"bsonType": ["null", "string"]}}}}},
             {"required": ["at", "k"], "additionalProperties": false, "properties": {
               "_id": {"bsonType": "objectId"}, "k": {"enum": ["note"]}, "mood": {"bsonType": "int", "enum": [1, 2]},
               "author": {"bsonType": "objectId"}, "done": {"bsonType": ["null", "bool"]}, "at": {"bsonType": "date"}}}]}}
        """

    @Test func aContractHasTheValidatorsThatPrismaMakes() throws {
        let schema = try read(["contract.prisma": Self.blog], "/contract.prisma")
        #expect(schema.dialect == .jsonSchema && schema.isContract && schema.notes.isEmpty)
        let expected = try BSONDocument(extendedJSON: Self.ofBlog).elements().map {
            ($0.name, try Self.sorted($0.value))
        }
        #expect(try validators(schema) == Dictionary(uniqueKeysWithValues: expected))
        let users = try #require(schema.collections.last?.root)
        #expect(users.title == "User" && users.property("tags")?.location.line == 20)
    }

    @Test(arguments: [
        "// use prisma-next\nmodel A {\n  id ObjectId @id @map(\"_id\")\n}", "model A {\n  _id ObjectId @id\n}",
    ])
    func aContractIsRecognizedByItsCommentOrItsTypes(_ text: String) throws {
        let schema = try read(["a.prisma": text], "/a.prisma")
        #expect(schema.collections.map(\.namespace.description) == ["shop.a"] && schema.isContract)
    }

    @Test func aFileOfTheOtherVersionIsNamedOnce() throws {
        let source = "datasource db {\n  provider = \"mongodb\"\n}\n"
        let old = source + "model U {\n  id String @id @map(\"_id\") @db.ObjectId\n}\n"
        #expect(try read(["contract.prisma": old], "/contract.prisma").dialect == .prisma)
        let mixed = failures(source + Self.blog)
        #expect(mixed.count == 1)
        #expect(
            mixed[0].hasPrefix(
                "/contract.prisma:1:1: the datasource is of Prisma 6, but \"type\" in line 5 is of Prisma 8 ("))
        let both = #expect(throws: SchemaError.self) { try read(["a.prisma": old, "b.prisma": Self.blog]) }
        #expect(both?.message.contains("this is a contract of Prisma 8, but ") == true)
        #expect(both?.others == [])
    }

    private static let model = "  id ObjectId @id @map(\"_id\")\n"

    @Test(arguments: [
        ("model A {\n  id String @id @map(\"_id\")\n  @@map(\"x\")\n}", "the model \"A\" has no _id of type ObjectId"),
        ("model A {\n\(model)  n BigInt\n}", "has no type \"BigInt\" for MongoDB (its types are Boolean, DateTime"),
        ("model A {\n\(model)  n Strng\n}", "has no type \"Strng\" for MongoDB (did you mean \"String\"?)"),
        ("model A {\n\(model)  n String @db.ObjectId\n}", "@db.ObjectId is of Prisma 6"),
        ("generator a {\n  b = \"c\"\n}\nmodel A {\n\(model)}", "a contract of Prisma 8 has no generator block"),
        ("type T {\n  t T?\n}\nmodel A {\n\(model)  t T\n}", "the type \"T\", which contains itself"),
        ("model A {\n\(model)}\nmodel A {\n\(model)}", "a second block \"A\""),
        ("model A {\n\(model)  a Int\n  b Int @map(\"a\")\n}", "the stored field \"a\" is there twice"),
        ("enum E {\n  A = 1\n  B = \"b\"\n}\nmodel A {\n\(model)  e E\n}", "enum \"E\" do not have one known type"),
    ])
    func aContractThatPrismaRefusesIsRefused(_ text: String, _ message: String) {
        let found = failures("// use prisma-next\n" + text)
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test(arguments: [
        ("  @@base(Post, \"x\")\n  @@base(Other, \"y\")\n", "\"V\" has two bases (keep one @@base)"),
        ("  @@base(Post)\n", "@@base needs a value of the discriminator"),
        ("  @@base(Pots, \"x\")\n", "the base \"Pots\" is no model with @@discriminator"),
        ("  @@base(Post, \"x\")\n  @@map(\"other\")\n", "a model is stored in the collection of its base"),
        ("  @@base(Post, \"w\")\n", "\"w\" selects \"W\" already"),
        ("  @@base(Post, \"x\")\n  @@discriminator(n)\n", "\"V\" has both @@base and @@discriminator"),
    ])
    func aWrongBaseIsNamed(_ attributes: String, _ message: String) {
        let found = failures(
            """
            model Post {
              id ObjectId @id @map("_id")
              kind String
              @@discriminator(kind)
            }
            model W {
              n Int
              @@base(Post, "w")
            }
            model V {
              n Int
            \(attributes)}
            """)
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test func aDiscriminatorWithoutModelsIsNamed() {
        let found = failures("model P {\n\(Self.model)  kind Int\n  @@discriminator(kind)\n}")
        #expect(found.count == 1 && found[0].contains("needs a field of type String and a model with this @@base"))
    }

    /// The bases lack a model only because of this error, so they have no error of their own.
    @Test func twoBasesAreOneErrorAlsoForTheOnlyModelOfABase() {
        let base = "\(Self.model)  kind String\n  @@discriminator(kind)\n}\n"
        let found = failures("model P {\n\(base)model Q {\n\(base)model V {\n  @@base(P, \"v\")\n  @@base(Q, \"v\")\n}")
        #expect(found.count == 1 && found[0].contains("\"V\" has two bases (keep one @@base)"), "\(found)")
    }

    @Test func prismaIgnoresAMapInATypeAndKeepsOneOfTwoValidators() throws {
        let text = """
            type T {
              a Int @map("b")
            }
            model A {
              id ObjectId @id @map("_id")
              t  T
              @@map("same")
            }
            model B {
              id ObjectId @id @map("_id")
              @@map("same")
            }
            """
        let schema = try read(["contract.prisma": text], "/contract.prisma")
        #expect(schema.notes.map(\.message).contains { $0.hasSuffix("ignores @map in a type: the field is \"a\"") })
        #expect(schema.notes.map(\.message).contains { $0.hasPrefix("\"A\" has the same collection") })
        #expect(schema.collections.map(\.root.title) == ["B"])
    }

    // MARK: contract.json and ops.json

    private static func json(_ version: String = "1", _ domain: String = "{}") -> String {
        """
        {"schemaVersion": "\(version)", "targetFamily": "mongo", "target": "mongo", "roots": {}, "domain": \(domain),
         "storage": {"namespaces": {"__unbound__": {"id": "__unbound__", "entries": {"collection": {
           "users": {"validator": {"jsonSchema": {"bsonType": "object", "required": ["_id"]},
             "validationLevel": "moderate", "validationAction": "error"}},
           "logs": {}}}}}}}
        """
    }

    @Test func aContractInJSONHasItsValidators() throws {
        let schema = try read(["contract.json": Self.json()], "/contract.json")
        #expect(schema.collections.map(\.namespace.description) == ["shop.users"] && schema.isContract)
        #expect(schema.collections[0].root.required == ["_id"])
        #expect(schema.notes.map(\.message) == ["the collection \"logs\" has no validator: it is not judged"])
        #expect(try read(["contract.json": Self.json()]).isContract, "a folder with a contract.json")
    }

    @Test func aNewerFormatIsNamedAndItsValidatorsAreJudged() throws {
        let schema = try read(["c.json": Self.json("2")], "/c.json")
        #expect(schema.collections.count == 1)
        #expect(
            schema.notes[0].message.hasPrefix("the contract has the format 2, and this program knows 1")
                && schema.notes[0].message.hasSuffix("only the validators in it are judged, as they are"))
    }

    @Test func aWrongContractInJSONIsNamed() {
        let half = String(Self.json().prefix(150))
        #expect(failures(half, "/contract.json").count == 1)
        #expect(failures(half, "/contract.json")[0].hasPrefix("/contract.json:"))
        let part = #"{"schemaVersion": "1", "targetFamily": "mongo", "storage": {}}"#
        #expect(failures(part, "/contract.json")[0].contains("it has no storage.namespaces with validators"))
        let other = #"{"schemaVersion": "1", "targetFamily": "sql", "target": "postgres"}"#
        #expect(failures(other, "/contract.json")[0].contains("this contract is for postgres, and not for MongoDB"))
        let unknown = #"{"namespaces": {"n": {"models": {"P": {"variants": {"V": {"value": "v"}}}}}}}"#
        #expect(
            failures(Self.json("1", unknown), "/contract.json")[0].contains(
                "the value \"v\" selects the model \"V\", which the contract does not have"))
    }

    @Test func aMigrationHasTheValidatorsThatItSets() throws {
        func step(_ kind: String, _ collection: String, _ rest: String) -> String {
            #"{"operationClass": "destructive", "execute": [{"command": {"kind": "\#(kind)", "collection": "\#(collection)"\#(rest)}}]}"#
        }
        let validator = #", "validator": {"$jsonSchema": {"bsonType": "object"}}"#
        let text =
            "["
            + [
                step("createCollection", "users", validator), step("createCollection", "old", validator),
                step("collMod", "posts", validator), step("collMod", "posts", #", "validator": {}"#),
                step("dropCollection", "old", ""), step("createIndex", "users", ""),
            ].joined(separator: ", ") + "]"
        let schema = try read(["ops.json": text], "/ops.json")
        #expect(schema.collections.map(\.namespace.description) == ["shop.users"])
        #expect(schema.notes.map(\.message) == ["only the collections that this migration changes are judged: users"])
        let none = failures("[" + step("createIndex", "users", "") + "]", "/ops.json")
        #expect(none.count == 1 && none[0].contains("this migration sets no validator (give contract.json"))
    }

    @Test func aCollectionOfAnotherNameAndAMissingDatabaseAreNamed() throws {
        let folder = try AppFolder(["contract.json": Self.json()])
        let path = folder.path + "/contract.json"
        let missing = #expect(throws: SchemaError.self) { try ServerSchema.read(at: path) }
        #expect(missing?.remedy?.hasPrefix("write database: NAME into shipshape.yml") == true)
        let other = #expect(throws: SchemaError.self) {
            try ServerSchema.read(at: path, namespace: Namespace("shop.user"))
        }
        #expect(
            other?.description == "\(path): the contract has no validator of shop.user (did you mean \"shop.users\"?)")
    }

    // MARK: what the client writes

    @Test func theValidatorOfWhatPrisma6WritesHasItsTypes() throws {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            type T {
              n Int
            }
            enum E {
              A @map("a")
            }
            model M {
              id String @id @map("_id") @db.ObjectId
              n  Int
              s  Int    @db.Int
              e  E?
              t  T?
              l  Int[]
              j  Json?
            }
            """
        let written = try read(["s.prisma": text], "/s.prisma").written(isClosed: true)
        let expected = """
            {"bsonType": "object", "additionalProperties": false, "required": ["_id", "n", "s"], "properties": {
              "_id": {"bsonType": "objectId"}, "n": {"bsonType": "long"}, "s": {"bsonType": "int"},
              "e": {"bsonType": ["null", "string"], "enum": ["a", null]},
              "t": {"bsonType": ["null", "object"], "additionalProperties": false, "required": ["n"],
                "properties": {"n": {"bsonType": "long"}}},
              "l": {"bsonType": "array", "items": {"bsonType": "long"}}, "j": {}}}
            """
        let sorted = try Self.sorted(.object(BSONDocument(extendedJSON: expected)))
        #expect(try validators(written)["M"] == sorted)
    }

    @Test func theDriverOfPrisma8WritesAWholeFloatAsAnInt() throws {
        let schema = try read(["contract.prisma": Self.blog], "/contract.prisma")
        let users = try #require(schema.written(isClosed: false).collections.last?.root)
        #expect(users.property("marks")?.node(at: ["[]"])?.types == [.double, .int])
        #expect(!users.hasAdditionalProperties)
        let post = try #require(schema.written(isClosed: true).collections.first?.root)
        #expect(!post.hasAdditionalProperties, "its models have different fields")
        let areClosed = post.constraints.combinations[0].nodes.map(\.hasAdditionalProperties)
        #expect(areClosed == [true, true])
    }
}
