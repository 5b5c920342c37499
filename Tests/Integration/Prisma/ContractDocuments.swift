import BSON
import ServerSchema

/// Contracts of Prisma 8, and documents for their collections, of which about half break a rule.
struct ContractDocuments {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns a random number below `limit`, by Knuth's linear congruential generator.
    private mutating func below(_ limit: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % limit
    }

    static let contracts = ["shop": shop, "blog": blog, "every": every]

    private static let shop = """
        // use prisma-next
        enum OrderStatus {
          @@type("mongo/string@1")
          Open    = "open"
          Paid    = "paid"
          Shipped = "shipped"
        }
        type Address {
          street String
          city   String
          zip    String?
        }
        type Item {
          sku      String
          quantity Int
          price    Float
          address  Address?
        }
        model Order {
          id       ObjectId @id @map("_id")
          number   Int      @unique
          status   OrderStatus
          total    Float
          placedAt DateTime @map("placed_at")
          note     String?
          address  Address?
          items    Item[]
          @@map("orders")
        }
        """

    private static let blog = """
        // use prisma-next
        type Place {
          city String
          zip  Int?
        }
        model Post {
          id    ObjectId @id @map("_id")
          title String
          kind  String
          place Place?
          @@discriminator(kind)
          @@map("posts")
        }
        model Article {
          summary String
          level   Int
          @@base(Post, "article")
        }
        model Talk {
          minutes Int
          level   String?
          stage   Place?
          @@base(Post, "talk")
        }
        model Link {
          url String
          @@base(Post, "link")
        }
        """

    static let every = """
        // use prisma-next
        enum Size {
          @@type("mongo/int32@1")
          Small = 1
          Large = 2
        }
        enum Mood {
          Good
          Bad = "b"
        }
        type Inner {
          n Int
          o Boolean?
          l String[]
        }
        model Thing {
          id   ObjectId @id @map("_id")
          s    String
          i    Int
          b    Boolean
          d    DateTime
          r    ObjectId
          f    Float
          so   String?
          fo   Float?
          mo   Mood?
          size Size
          l    Int[]
          lo   Float[]?
          moods Mood[]
          v    Inner
          vo   Inner?
          vl   Inner[]
          @@map("things")
        }
        """

    /// A document as the driver for Node.js writes it: a whole number is an int, also in a `Float`.
    static let ofEvery: [BSONDocument] = [BSONValue.int(3), .double(2.5)].enumerated().map { index, number in
        let inner: BSONValue = ["n": 1, "l": ["x"]]
        return [
            "_id": .objectID(ObjectID(high: 1, low: UInt32(index))), "s": "x", "i": 1, "b": true,
            "d": .date(milliseconds: 5), "r": .objectID(ObjectID(high: 1, low: 2)), "f": number, "so": .null,
            "fo": number, "mo": "b", "size": 2, "l": [1, 2], "lo": .array(of: [number]), "moods": ["Good"], "v": inner,
            "vo": index == 0 ? .null : inner, "vl": .array(of: [inner]),
        ]
    }

    /// A schema of Prisma 6 with each type and native type.
    static let six = """
        datasource db {
          provider = "mongodb"
          url      = "mongodb://h/shop"
        }
        enum E {
          A @map("a")
          B
        }
        type T {
          n Int
          o Int?
        }
        model SixThings {
          id    String   @id @map("_id") @db.ObjectId
          s     String
          i     Int
          small Int      @db.Int
          big   BigInt
          f     Float
          b     Boolean
          d     DateTime
          bytes Bytes
          j     Json
          e     E
          so    String?
          io    Int?
          l     Int[]
          t     T
          to    T?
          tl    T[]
        }
        """

    /// Documents as the query engine of Prisma 6 writes them: an `Int` is a long, unless it has `@db.Int`.
    static let ofSix: [BSONDocument] = [BSONValue.null, .long(7)].enumerated().map { index, number in
        let inner: BSONValue = ["n": .long(1), "o": number]
        return [
            "_id": .objectID(ObjectID(high: 1, low: UInt32(index))), "s": "x", "i": .long(1), "small": 5,
            "big": .long(6), "f": .double(3), "b": false, "d": .date(milliseconds: 5),
            "bytes": .binary(subtype: 0, bytes: [1]), "j": index == 0 ? ["a": [1]] : "x", "e": "a",
            "so": index == 0 ? .null : "y", "io": number, "l": [.long(1)], "t": inner,
            "to": index == 0 ? .null : inner, "tl": .array(of: [inner]),
        ]
    }
}

extension ContractDocuments {
    /// Returns a document for a schema; about half of them break a rule.
    mutating func document(_ root: SchemaNode, number: Int) -> BSONDocument {
        let wrong: UInt64 = below(10) < 6 ? 12 : 0
        let kind = root.constraints.combinations.first.map { pick($0.nodes) } ?? root
        guard case .object(let document) = object(kind, wrong: wrong) else { return [:] }
        let id: BSONValue = .objectID(ObjectID(high: 51, low: UInt32(number)))
        let others = ((try? document.elements()) ?? []).filter { $0.name != "_id" }
        return BSONDocument([("_id", id)] + others.map { ($0.name, $0.value) })
    }

    private mutating func pick<T>(_ values: [T]) -> T { values[Int(below(UInt64(values.count)))] }

    private static let odd: [BSONValue] = [
        .long(5), "text", .null, .double(1.5), 7, true, [:], [], ["x"], ["n": "y"], .date(milliseconds: 1), "article",
    ]

    /// - Parameter wrong: in how many of 100 places the value breaks the schema.
    private mutating func value(_ node: SchemaNode, wrong: UInt64) -> BSONValue {
        if below(100) < wrong { return pick(Self.odd) }
        if let kinds = node.constraints.combinations.first { return value(pick(kinds.nodes), wrong: wrong) }
        if let values = node.constraints.allowedValues { return pick(values) }
        if node.hasProperties, node.types.isEmpty || node.types == [.object] { return object(node, wrong: wrong) }
        guard let type = node.types.isEmpty ? nil : pick(node.types) else { return .null }
        switch type {
        case .string: return .string("s\(below(9))")
        case .int: return .int(Int32(below(100)))
        case .double: return .double(Double(below(100)) / 4)
        case .bool: return .bool(below(2) == 0)
        case .date: return .date(milliseconds: Int64(below(1_000)))
        case .objectId: return .objectID(ObjectID(high: 9, low: UInt32(below(1_000))))
        case .array:
            guard case .each(let element) = node.items else { return [] }
            return .array(of: (0..<below(3)).map { _ in value(element, wrong: wrong) })
        default: return .null
        }
    }

    private mutating func object(_ node: SchemaNode, wrong: UInt64) -> BSONValue {
        var members: [(String, BSONValue)] = []
        for property in node.properties {
            let isLeftOut = node.requires(property.name) ? below(100) < wrong / 3 : below(3) == 0
            if !isLeftOut { members.append((property.name, value(property.node, wrong: wrong / 2))) }
        }
        if below(100) < wrong { members.append(("further", 1)) }
        return .object(BSONDocument(members))
    }
}
