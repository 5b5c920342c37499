import BSON
import Foundation
import TestSupport
import Testing

/// Tests ten schemas, of the shapes that public projects have, from the first check to one without a finding.
///
/// The documents are as a client writes them, apart from planted failures of six kinds, whose `_id`s the test knows.
@Suite struct PrismaShapeTests {
    /// A model: its name, a document of it, and the paths at which failures are planted.
    struct Model: Sendable {
        let name: String
        let document: String
        let plants: [String]

        init(_ name: String, _ document: String, _ plants: String...) {
            (self.name, self.document, self.plants) = (name, document, plants)
        }
    }

    struct Shape: CustomTestStringConvertible, Sendable {
        let name: String
        let schema: String
        let models: [Model]
        var testDescription: String { name }
    }

    /// A kind of failure, written as the first letter of a plant.
    enum Kind: Character, CaseIterable {
        case missing = "m"
        case null = "n"
        case numberAsText = "t"
        case dateAsText = "d"
        case nullElement = "e"
        case keyAsText = "k"

        /// The rule that a document with the failure breaks.
        func rule(at path: String) -> String {
            switch self {
            case .missing: path.contains(".") ? "embedded-required-missing" : "required-missing"
            case .null: path.contains(".") ? "embedded-required-null" : "required-null"
            case .numberAsText, .dateAsText: "type-mismatch"
            case .nullElement: "array-item-null"
            case .keyAsText: "stored-type"
            }
        }

        /// The value that the failure puts in place of a valid one; `nil` for a missing field.
        func value(for valid: BSONValue) -> BSONValue? {
            switch self {
            case .missing: nil
            case .null: .null
            case .numberAsText: "7"
            case .dateAsText: "2024-05-06T07:08:09Z"
            case .nullElement: .array(of: (valid.document?.values ?? []) + [.null])
            case .keyAsText: "0123456789abcdef01234567"
            }
        }
    }

    static let shapes = [
        Shape(
            name: "blog",
            schema: """
                model User {
                  email String
                  name String?
                  age Int
                  joined DateTime
                  roles String[]
                }
                model Post {
                  authorId String @db.ObjectId
                  title String
                  views Int
                  tags String[]
                  at DateTime
                }
                """,
            models: [
                Model(
                    "User",
                    #"{"email": "a", "age": {"$numberLong": "5"}, "joined": {"$date": "2024-01-01T00:00:00Z"}, "roles": ["x"]}"#,
                    "m email", "n email", "t age", "d joined", "e roles", "m age", "n joined", "t age", "e roles"),
                Model(
                    "Post",
                    ##"{"authorId": #1, "title": "t", "views": {"$numberLong": "1"}, "tags": [], "at": {"$date": "2024-01-01T00:00:00Z"}}"##,
                    "k authorId", "m title", "n title", "t views", "e tags", "d at", "k authorId", "m views", "n at",
                    "t views", "e tags", "d at"),
            ]),
        Shape(
            name: "shop",
            schema: """
                type Line {
                  sku String
                  quantity Int
                  productId String @db.ObjectId
                }
                model Order {
                  number Int
                  lines Line[]
                  paid DateTime?
                  placed DateTime @map("placed_at")
                  customer String @db.ObjectId
                }
                model Product {
                  title String
                  stock Int
                  labels String[]
                  added DateTime
                }
                """,
            models: [
                Model(
                    "Order",
                    ##"{"number": {"$numberLong": "9"}, "lines": [{"sku": "a", "quantity": {"$numberLong": "2"}, "productId": #3}], "placed_at": {"$date": "2024-01-01T00:00:00Z"}, "customer": #4}"##,
                    "t number", "m number", "n number", "d placed_at", "k customer", "k customer", "m placed_at",
                    "d placed_at", "n number", "t number"),
                Model(
                    "Product",
                    #"{"title": "p", "stock": {"$numberLong": "3"}, "labels": ["a"], "added": {"$date": "2024-01-01T00:00:00Z"}}"#,
                    "m title", "n title", "t stock", "e labels", "d added", "m stock", "n stock", "e labels", "d added",
                    "t stock", "e labels"),
            ]),
        Shape(
            name: "iot",
            schema: """
                type Position {
                  lat Float
                  lon Float
                }
                model Device {
                  owner String @db.ObjectId
                  at Position
                  seen DateTime
                  channels Int[]
                  battery Int
                }
                model Reading {
                  deviceId String @db.ObjectId
                  value Float
                  taken DateTime
                  flags String[]
                }
                """,
            models: [
                Model(
                    "Device",
                    ##"{"owner": #2, "at": {"lat": 1.5, "lon": 2.5}, "seen": {"$date": "2024-01-01T00:00:00Z"}, "channels": [{"$numberLong": "1"}], "battery": {"$numberLong": "80"}}"##,
                    "k owner", "m at.lat", "n at.lon", "d seen", "e channels", "t battery", "k owner", "n battery",
                    "m battery", "t at.lat"),
                Model(
                    "Reading",
                    ##"{"deviceId": #3, "value": 1.5, "taken": {"$date": "2024-01-01T00:00:00Z"}, "flags": ["a"]}"##,
                    "k deviceId", "t value", "d taken", "e flags", "m value", "n value", "k deviceId", "d taken",
                    "e flags", "t value", "m taken"),
            ]),
        Shape(
            name: "chat",
            schema: """
                type Receipt {
                  by String @db.ObjectId
                  at DateTime
                }
                model Room {
                  title String
                  memberIds String[] @db.ObjectId
                  limit Int
                  opened DateTime
                }
                model Message {
                  roomId String @db.ObjectId
                  text String
                  read Receipt
                  edits Int
                  mentions String[]
                }
                """,
            models: [
                Model(
                    "Room",
                    ##"{"title": "r", "memberIds": [#1], "limit": {"$numberLong": "9"}, "opened": {"$date": "2024-01-01T00:00:00Z"}}"##,
                    "m title", "n title", "e memberIds", "t limit", "d opened", "e memberIds", "n limit", "d opened"),
                Model(
                    "Message",
                    ##"{"roomId": #2, "text": "t", "read": {"by": #3, "at": {"$date": "2024-01-01T00:00:00Z"}}, "edits": {"$numberLong": "0"}, "mentions": []}"##,
                    "k roomId", "k read.by", "d read.at", "t edits", "e mentions", "m text", "n text", "m read.at",
                    "k roomId", "n edits", "t edits", "d read.at", "e mentions", "m edits"),
            ]),
        Shape(
            name: "clinic",
            schema: """
                type Address {
                  street String
                  zip Int
                }
                model Patient {
                  name String
                  born DateTime
                  address Address
                  allergies String[]
                  doctorId String @db.ObjectId
                  visits Int
                }
                """,
            models: [
                Model(
                    "Patient",
                    ##"{"name": "p", "born": {"$date": "1980-01-01T00:00:00Z"}, "address": {"street": "s", "zip": {"$numberLong": "1"}}, "allergies": [], "doctorId": #5, "visits": {"$numberLong": "2"}}"##,
                    "m name", "n name", "d born", "t address.zip", "m address.street", "n address.street",
                    "e allergies", "k doctorId", "t visits", "m visits", "n visits", "d born", "k doctorId",
                    "e allergies", "t visits", "m born", "n born", "t address.zip", "m address.zip", "n address.zip",
                    "k doctorId")
            ]),
        Shape(
            name: "school",
            schema: """
                model Course {
                  code String
                  credits Int
                  starts DateTime
                  teacherId String @db.ObjectId
                  rooms String[]
                }
                model Grade {
                  courseId String @db.ObjectId
                  studentId String @db.ObjectId
                  points Float
                  given DateTime
                  notes String[]
                }
                """,
            models: [
                Model(
                    "Course",
                    ##"{"code": "c", "credits": {"$numberLong": "5"}, "starts": {"$date": "2024-01-01T00:00:00Z"}, "teacherId": #1, "rooms": ["a"]}"##,
                    "m code", "n code", "t credits", "d starts", "k teacherId", "e rooms", "m credits", "n starts",
                    "t credits", "d starts"),
                Model(
                    "Grade",
                    ##"{"courseId": #2, "studentId": #3, "points": 1.5, "given": {"$date": "2024-01-01T00:00:00Z"}, "notes": []}"##,
                    "k courseId", "k studentId", "t points", "d given", "e notes", "m points", "n points", "k courseId",
                    "t points", "d given", "e notes"),
            ]),
        Shape(
            name: "bank",
            schema: """
                enum Currency {
                  EUR
                  USD @map("us-dollar")
                }
                model Account {
                  iban String
                  balance BigInt
                  currency Currency
                  opened DateTime
                  ownerIds String[] @db.ObjectId
                }
                model Transfer {
                  from String @db.ObjectId
                  to String @db.ObjectId
                  cents BigInt
                  booked DateTime
                  notes String[]
                }
                """,
            models: [
                Model(
                    "Account",
                    ##"{"iban": "x", "balance": {"$numberLong": "10000000000"}, "currency": "us-dollar", "opened": {"$date": "2024-01-01T00:00:00Z"}, "ownerIds": [#1]}"##,
                    "m iban", "n iban", "t balance", "d opened", "e ownerIds", "m balance", "n balance", "d opened",
                    "t balance", "e ownerIds"),
                Model(
                    "Transfer",
                    ##"{"from": #2, "to": #3, "cents": {"$numberLong": "5"}, "booked": {"$date": "2024-01-01T00:00:00Z"}, "notes": []}"##,
                    "k from", "k to", "t cents", "d booked", "e notes", "m cents", "n cents", "k from", "t cents",
                    "m booked", "n booked"),
            ]),
        Shape(
            name: "game",
            schema: """
                type Stats {
                  wins Int
                  best DateTime
                }
                type Profile {
                  stats Stats
                  bio String
                }
                model Player {
                  nick String
                  profile Profile
                  friends String[] @db.ObjectId
                  guildId String? @db.ObjectId
                  level Int
                }
                """,
            models: [
                Model(
                    "Player",
                    ##"{"nick": "n", "profile": {"stats": {"wins": {"$numberLong": "1"}, "best": {"$date": "2024-01-01T00:00:00Z"}}, "bio": "b"}, "friends": [], "guildId": #7, "level": {"$numberLong": "3"}}"##,
                    "m nick", "n nick", "t profile.stats.wins", "d profile.stats.best", "m profile.bio",
                    "n profile.bio",
                    "e friends", "k guildId", "t level", "m level", "n level", "m profile.stats.wins",
                    "n profile.stats.wins", "d profile.stats.best", "k guildId", "e friends", "t level",
                    "t profile.stats.wins", "m profile.stats.best", "n profile.stats.best", "k guildId")
            ]),
        Shape(
            name: "travel",
            schema: """
                model Trip {
                  title String @map("t")
                  days Int @map("d") @db.Int
                  start DateTime @map("s")
                  stopIds String[] @map("st") @db.ObjectId
                  guide String @map("g") @db.ObjectId
                  @@map("trips")
                }
                """,
            models: [
                Model(
                    "trips",
                    ##"{"t": "a", "d": 5, "s": {"$date": "2024-01-01T00:00:00Z"}, "st": [#1], "g": #2}"##,
                    "m t", "n t", "t d", "d s", "e st", "k g", "m d", "n d", "m s", "n s", "t d", "d s", "e st", "k g",
                    "m t", "n t", "t d", "d s", "e st", "k g", "m d")
            ]),
        Shape(
            name: "cms",
            schema: """
                type Block {
                  kind String
                  body Json?
                }
                type Meta {
                  score Float
                  reviewed DateTime
                  by String @db.ObjectId
                }
                model Page {
                  slug String
                  blocks Block[]
                  meta Meta
                  version Int
                  langs String[]
                }
                """,
            models: [
                Model(
                    "Page",
                    ##"{"slug": "s", "blocks": [{"kind": "k", "body": {"x": [1, "a"]}}], "meta": {"score": 1.5, "reviewed": {"$date": "2024-01-01T00:00:00Z"}, "by": #4}, "version": {"$numberLong": "1"}, "langs": ["en"]}"##,
                    "m slug", "n slug", "t meta.score", "d meta.reviewed", "k meta.by", "e langs", "t version",
                    "m version", "n version", "m meta.score", "n meta.score", "k meta.by", "e langs", "t version",
                    "d meta.reviewed", "m meta.reviewed", "n meta.reviewed", "t meta.score", "k meta.by", "e langs",
                    "m slug")
            ]),
    ]

    @Test(arguments: shapes) func everyPlantedFailureIsFoundAndRepaired(_ shape: Shape) async throws {
        let plants = shape.models.flatMap(\.plants)
        #expect(plants.count >= 20)
        #expect(Set(plants.compactMap(\.first)).count == Kind.allCases.count)
        try await Mongod.shared.withBackfill { backfill in
            var planted: [String: Set<String>] = [:]
            for model in shape.models {
                let valid = try PrismaDocuments.document(model.document)
                var documents: [BSONDocument] = []
                for number in 0..<100 {
                    var document = try BSONDocument([("_id", .int(Int32(number)))] + valid.elements())
                    if number % 3 == 1, number / 3 < model.plants.count {
                        let plant = model.plants[number / 3]
                        let kind = try #require(plant.first.flatMap(Kind.init))
                        let path = plant.dropFirst(2).split(separator: ".").map(String.init)
                        document = try Self.planted(kind, at: path[...], in: document)
                        planted["\(model.name)/\(number)"] = [kind.rule(at: path.joined(separator: "."))]
                    }
                    documents.append(document)
                }
                try await backfill.database.fill(model.name, documents)
            }
            let prisma = try PrismaDocuments(shape.schema, in: backfill)
            #expect(try await prisma.failing() == planted)
            try await prisma.repair()
            #expect(try await prisma.failing() == [:])
        }
    }

    private static func planted(
        _ kind: Kind, at path: ArraySlice<String>, in document: BSONDocument
    ) throws -> BSONDocument {
        let name = try #require(path.first)
        let valid = try #require(document[name])
        guard path.count == 1 else {
            let inner = try planted(kind, at: path.dropFirst(), in: try #require(valid.document))
            return try document.replacing(name, with: .object(inner))
        }
        guard let value = kind.value(for: valid) else { return try document.removing(name) }
        return try document.replacing(name, with: value)
    }
}
