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

    /// For each scalar type, the BSON types whose values the client reads unchanged, and the BSON types whose values it
    /// changes when it reads them.
    ///
    /// Values of all other BSON types make a query fail.
    static let table: [(scalar: String, unchanged: Set<String>, changed: Set<String>)] = [
        ("String", ["string", "objectId"], []),
        ("Boolean", ["bool"], []),
        (
            "Int", ["int", "long", "long beyond 32 bits", "whole double"],
            ["double", "NaN", "infinity", "bool", "long beyond 53 bits"]
        ),
        ("BigInt", ["int", "long", "long beyond 32 bits", "long beyond 53 bits"], ["bool"]),
        ("Float", ["double", "whole double", "int", "long", "long beyond 32 bits"], ["long beyond 53 bits"]),
        ("DateTime", ["date", "timestamp"], []),
        ("Bytes", ["binData", "uuid", "objectId"], []),
        ("Json", Set(values.map(\.type)), []),
        ("Role", [], []),
        ("Address", ["object"], []),
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
            guard !isRead, scalar != "Role" || type != "string" else { continue }
            #expect(
                try schema.violations(in: ["_id": 1, "x": .array(of: [value])], info: false).map(\.rule.rawValue)
                    == [type == "array" ? "array-nested" : "array-item-type"], "\(scalar)[] \(type)")
        }
    }

    /// A native type decides what the client writes, but not what it can read.
    @Test(arguments: [
        ("String @db.ObjectId", "String"), ("Int @db.Int", "Int"), ("Int @db.Long", "Int"),
        ("DateTime @db.Timestamp", "DateTime"), ("Bytes @db.ObjectId", "Bytes"),
    ])
    func aNativeType(_ field: String, _ scalar: String) throws {
        let (schema, plain) = (
            try CompiledSchema(prisma: "x \(field)"), try CompiledSchema(prisma: "x \(scalar)")
        )
        for (type, value) in Self.values {
            let document: BSONDocument = ["_id": 1, "x": value]
            #expect(try schema.verdict(document) == plain.verdict(document), "\(field) \(type)")
        }
    }

    @Test func theWordsOfAFinding() throws {
        let schema = try CompiledSchema(
            prisma: "age Int\n home Address?\n ids String[] @db.ObjectId\n role Role", Self.others)
        #expect(
            try schema.findings(["_id": 1, "age": "31", "home": 1, "ids": [true], "role": "ROOT"]) == [
                "type-mismatch certain age: Int / string", "embedded-not-object certain home: embedded Address / int",
                "array-item-type certain ids[]: String @db.ObjectId / bool",
                "not-in-enum certain role: enum Role / string that is no value of it",
            ])
        #expect(
            try schema.findings(["_id": 1, "age": 1.9, "role": "ADMIN"]) == [
                "numeric-lossy info age: Int / double with a fraction"
            ])
        #expect(
            try schema.findings(["_id": 1, "age": true, "role": "ADMIN"]) == ["bool-as-number info age: Int / bool"])
    }
}

extension CompiledSchema {
    /// Returns the violations of a document.
    func violations(in document: BSONDocument, info: Bool) throws -> [Violation] {
        try violations(in: document.view, includingInfo: info)
    }
}
