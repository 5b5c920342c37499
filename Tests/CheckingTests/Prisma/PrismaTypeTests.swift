import BSON
import Checking
import ServerSchema
import Testing

/// Tests which BSON types a Prisma client can read as each of Prisma's scalar types, against a table of the expected
/// results.
@Suite struct PrismaTypeTests {
    /// Values of the BSON types that are not deprecated, by name; null is not among them, because it has its own
    /// rules.
    static let values: [(type: String, value: BSONValue)] = [
        ("double", 2.5), ("whole double", 2.0), ("NaN", .double(.nan)), ("infinity", .double(.infinity)),
        ("string", "x"), ("object", ["a": 1]), ("array", [1]), ("binData", .binary(subtype: 0, bytes: [1])),
        ("uuid", .uuid()), ("objectId", .objectID(ObjectID(high: 1, low: 2))), ("bool", true),
        ("date", .date(milliseconds: 0)), ("regex", .regex(pattern: "a", options: "")),
        ("javascript", .javascript("1")),
        ("int", 1), ("timestamp", .timestamp(1)), ("long", .long(1)), ("long beyond 32 bits", .long(1 << 40)),
        ("long beyond 53 bits", .long(1 << 60 + 1)), ("decimal", .decimal(coefficient: 15, exponent: -1)),
        ("minKey", .minKey), ("maxKey", .maxKey),
    ]

    /// For each scalar type, the BSON types whose values the client reads unchanged, those whose values it changes when
    /// it reads them, and those whose values it reads, but never finds, because its queries name another type.
    ///
    /// Values of all other BSON types make a query fail.
    static let table: [(scalar: String, unchanged: Set<String>, changed: Set<String>, unfound: Set<String>)] = [
        ("String", ["string"], [], ["objectId"]),
        ("Boolean", ["bool"], [], []),
        (
            "Int", ["int", "long", "long beyond 32 bits", "whole double"],
            ["double", "NaN", "infinity", "long beyond 53 bits"], ["bool"]
        ),
        ("BigInt", ["int", "long", "long beyond 32 bits", "long beyond 53 bits"], [], ["bool"]),
        ("Float", ["double", "whole double", "int", "long", "long beyond 32 bits"], ["long beyond 53 bits"], []),
        ("DateTime", ["date"], [], ["timestamp"]),
        ("Bytes", ["binData"], [], ["uuid", "objectId"]),
        ("Json", Set(values.map(\.type)), [], []),
        ("Role", [], [], []),
        ("Address", ["object"], [], []),
    ]

    private static let others = """
        enum Role {
          ADMIN
        }
        type Address {
          a Int
        }
        """

    private static func rule(of scalar: String) -> String {
        scalar == "Address" ? "embedded-not-object" : "type-mismatch"
    }

    @Test(arguments: table.map(\.scalar)) func aRequiredField(_ scalar: String) throws {
        let row = try #require(Self.table.first { $0.scalar == scalar })
        let schema = try CompiledSchema(prisma: "x \(scalar)", Self.others)
        for (type, value) in Self.values {
            let findings = try schema.violations(in: ["_id": 1, "x": value] as BSONDocument, info: true)
            if row.unchanged.contains(type) {
                #expect(findings == [], "\(scalar) \(type)")
            } else if row.changed.contains(type) {
                #expect(findings.map(\.level) == [.info], "\(scalar) \(type)")
            } else if row.unfound.contains(type) {
                #expect(findings.map(\.level) == [.certain], "\(scalar) \(type)")
                #expect(findings.map(\.rule.rule) == [.storedType], "\(scalar) \(type)")
            } else {
                let isMember = scalar == "Role" && type == "string"
                #expect(findings.map(\.level) == [.certain], "\(scalar) \(type)")
                #expect(findings.map(\.rule.rawValue) == [isMember ? "not-in-enum" : Self.rule(of: scalar)])
            }
            let isRead = row.unchanged.contains(type) || row.changed.contains(type)
            #expect(try schema.verdict(["_id": 1, "x": value]) == (isRead ? .fits : .certain), "\(scalar) \(type)")
        }
    }

    @Test(arguments: table.map(\.scalar)) func anElementOfAList(_ scalar: String) throws {
        let row = try #require(Self.table.first { $0.scalar == scalar })
        let schema = try CompiledSchema(prisma: "x \(scalar)[]", Self.others)
        for (type, value) in Self.values {
            let isRead = row.unchanged.contains(type) || row.changed.contains(type)
            let verdict = try schema.verdict(["_id": 1, "x": .array(of: [value])])
            #expect(verdict == (isRead ? .fits : .certain), "\(scalar)[] \(type)")
            guard !isRead, scalar != "Role" || type != "string", !row.unfound.contains(type) else { continue }
            #expect(
                try schema.violations(in: ["_id": 1, "x": .array(of: [value])], info: false).map(\.rule.rawValue)
                    == [type == "array" ? "array-nested" : "array-item-type"], "\(scalar)[] \(type)")
        }
    }

    /// A native type decides which type the client writes, also into its queries, but not which types it can read.
    @Test(
        arguments: [
            ("String @db.ObjectId", ["objectId"]), ("String @db.String", ["string"]),
            ("Int @db.Int", ["int", "long", "long beyond 32 bits", "whole double"]),
            ("Int @db.Long", ["int", "long", "long beyond 32 bits", "whole double"]),
            ("BigInt @db.Long", ["int", "long", "long beyond 32 bits", "long beyond 53 bits"]),
            ("Float @db.Double", ["double", "whole double", "int", "long", "long beyond 32 bits"]),
            ("Boolean @db.Bool", ["bool"]), ("DateTime @db.Date", ["date"]), ("DateTime @db.Timestamp", []),
            ("Bytes @db.ObjectId", ["objectId"]), ("Bytes @db.BinData", ["binData"]),
        ] as [(String, Set<String>)])
    func aNativeType(_ field: String, _ findable: Set<String>) throws {
        let scalar = field.prefix { $0 != " " }
        let row = try #require(Self.table.first { $0.scalar == scalar })
        for (type, value) in Self.values {
            let documents: [(lines: String, x: BSONValue)] = [
                ("x \(field)", value),
                ("x \(scalar)[] \(field.dropFirst(scalar.count))", .array(of: [value])),
            ]
            for (lines, x) in documents {
                let schema = try CompiledSchema(prisma: lines)
                let found: [Violation] = try schema.violations(in: ["_id": 1, "x": x] as BSONDocument, info: false)
                let rules = Set(found.map(\.rule.rule))
                let isRead = [row.unchanged, row.changed, row.unfound].contains { $0.contains(type) }
                if !isRead {
                    #expect(rules.isDisjoint(with: [.storedType, .malformedObjectID]), "\(field) \(type)")
                    #expect(!rules.isEmpty)
                } else if findable.contains(type) || row.changed.contains(type) {
                    #expect(rules == [], "\(field) \(type)")
                } else {
                    let isMalformed = field.hasSuffix("ObjectId")
                    #expect(rules == [isMalformed ? .malformedObjectID : .storedType], "\(field) \(type)")
                }
            }
        }
    }

    /// Only 24 hexadecimal digits, or 12 bytes, can become an ObjectId, with which a query could look for the value.
    @Test func textsAndBytesThatCanBecomeAnObjectID() throws {
        let schema = try CompiledSchema(
            prisma: "x String? @db.ObjectId\n y Bytes? @db.ObjectId\n z K?",
            """
            type K {
              id String @db.ObjectId
              at DateTime @db.Timestamp
            }
            """)
        for (text, rule): (BSONValue, Rule) in [
            ("0123456789abcdefABCDEF00", .storedType), ("0123456789abcdefABCDEF0", .malformedObjectID),
            ("0123456789abcdefABCDEF000", .malformedObjectID), ("0123456789abcdefABCDEFg0", .malformedObjectID),
            ("", .malformedObjectID), ("0123456789abcdefABCDEFé", .malformedObjectID),
        ] {
            #expect(try schema.violations(in: ["_id": 1, "x": text], info: true).map(\.rule.rule) == [rule], "\(text)")
        }
        for (count, subtype, rule): (Int, UInt8, Rule) in [
            (12, 0, .storedType), (12, 4, .storedType), (11, 0, .malformedObjectID), (24, 0, .malformedObjectID),
        ] {
            let bytes = BSONValue.binary(subtype: subtype, bytes: Array(repeating: 65, count: count))
            #expect(
                try schema.violations(in: ["_id": 1, "y": bytes], info: true).map(\.rule.rule) == [rule], "\(count)")
        }
        let inside: BSONDocument = ["_id": 1, "z": ["id": "0123456789abcdefABCDEF00", "at": .timestamp(7 << 32 + 1)]]
        #expect(
            try schema.findings(inside) == [
                "stored-type certain z.id: String @db.ObjectId / string",
                "stored-type certain z.at: DateTime @db.Timestamp / timestamp with an increment",
            ])
        #expect(
            try schema.findings([
                "_id": 1, "z": ["id": .objectID(ObjectID(high: 1, low: 2)), "at": .timestamp(7 << 32)],
            ])
                == [])
    }

    @Test func theWordsOfAFinding() throws {
        let schema = try CompiledSchema(
            prisma: "age Int\n home Address?\n ids String[] @db.ObjectId\n role Role", Self.others)
        #expect(
            try schema.findings(["_id": 1, "age": "31", "home": 1, "ids": [true], "role": "ROOT"]) == [
                "type-mismatch certain age: Int / string", "embedded-not-object certain home: embedded Address / int",
                "array-item-type certain ids[]: String @db.ObjectId / bool",
                "not-in-enum certain role: enum Role / other string",
            ])
        #expect(
            try schema.findings(["_id": 1, "age": 1.9, "role": "ADMIN"]) == [
                "numeric-lossy info age: Int / double with a fraction"
            ])
        #expect(
            try schema.findings(["_id": 1, "age": true, "role": "ADMIN"]) == ["stored-type certain age: Int / bool"])
    }
}

extension CompiledSchema {
    /// Returns the violations of a document.
    func violations(in document: BSONDocument, info: Bool) throws -> [Violation] {
        try violations(in: document.view, includingInfo: info)
    }
}
