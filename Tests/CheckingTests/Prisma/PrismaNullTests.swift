import BSON
import Checking
import ServerSchema
import Testing

/// Tests how a check for a Prisma client judges fields that are null or missing.
@Suite struct PrismaNullTests {
    private static let others = """
        enum Role {
          ADMIN
        }
        type Address {
          city  String
          state String   @default("CA")
          zip   String?
          tags  String[]
          parts Part[]
        }
        type Part {
          n Int
        }
        """

    static let types = ["String", "Boolean", "Int", "BigInt", "Float", "DateTime", "Bytes", "Json", "Role", "Address"]

    @Test(arguments: types) func aRequiredFieldFails(_ type: String) throws {
        let schema = try CompiledSchema(prisma: "x \(type)", Self.others)
        #expect(try schema.findings(["_id": 1]).map { $0.prefix(24) } == ["required-missing certain"])
        #expect(try schema.findings(["_id": 1, "x": nil]).map { $0.prefix(21) } == ["required-null certain"])
    }

    @Test(arguments: types) func anOptionalFieldIsNull(_ type: String) throws {
        let schema = try CompiledSchema(prisma: "x \(type)?", Self.others)
        #expect(try schema.findings(["_id": 1]) == [])
        #expect(try schema.findings(["_id": 1, "x": nil]) == [])
    }

    @Test(arguments: types) func aListIsEmpty(_ type: String) throws {
        let schema = try CompiledSchema(prisma: "x \(type)[]", Self.others)
        #expect(try schema.findings(["_id": 1]) == [])
        #expect(try schema.findings(["_id": 1, "x": nil]) == [])
        #expect(try schema.findings(["_id": 1, "x": 1]).map { $0.prefix(23) } == ["array-not-array certain"])
    }

    /// The client cannot read a list of scalars with a null, but it reads a null among embedded objects.
    @Test(arguments: types) func aNullInAList(_ type: String) throws {
        let schema = try CompiledSchema(prisma: "x \(type)[]", Self.others)
        let level = type == "Address" ? "info" : "certain"
        #expect(
            try schema.findings(["_id": 1, "x": [nil]]).map { $0.prefix { $0 != ":" } } == [
                "array-item-null \(level) x[]"
            ])
    }

    @Test func aConstantDefaultReplacesWhatIsMissingOrNull() throws {
        let schema = try CompiledSchema(prisma: "x Int @default(5)")
        #expect(try schema.findings(["_id": 1]) == ["required-missing-defaulted info x: Int / missing"])
        #expect(try schema.findings(["_id": 1, "x": nil]) == ["required-null-defaulted info x: Int / null"])
        #expect(try schema.findings(["_id": 1, "x": "5"]) == ["type-mismatch certain x: Int / string"])
    }

    @Test func anEnumsDefault() throws {
        let schema = try CompiledSchema(prisma: "x Role @default(ADMIN)", Self.others)
        #expect(try schema.verdict(["_id": 1]) == .fits)
    }

    @Test(arguments: [
        "x DateTime @default(now())", "x String @default(uuid())", "x String @default(cuid())",
        "x Int @default(autoincrement())",
    ])
    func aFunctionIsOnlyForWriting(_ line: String) throws {
        let schema = try CompiledSchema(prisma: line)
        #expect(try schema.verdict(["_id": 1]) == .certain)
        #expect(try schema.verdict(["_id": 1, "x": nil]) == .certain)
    }

    @Test func fieldsOfAnEmbeddedType() throws {
        let schema = try CompiledSchema(prisma: "home Address?", Self.others)
        #expect(
            try schema.findings(["_id": 1, "home": [:]]) == [
                "embedded-required-missing certain home.city: String / missing",
                "required-missing-defaulted info home.state: String / missing",
                "embedded-required-missing info home.tags: list of String / missing",
            ])
        #expect(
            try schema.findings(["_id": 1, "home": ["city": nil, "state": nil, "tags": nil, "parts": [nil, [:]]]]) == [
                "embedded-required-null certain home.city: String / null",
                "required-null-defaulted info home.state: String / null",
                "array-item-null info home.parts[]: embedded Part / null",
                "embedded-required-missing certain home.parts[].n: Int / missing",
            ])
    }

    @Test func fieldsThatTheSchemaDoesNotNameAreNotRead() throws {
        let schema = try CompiledSchema(prisma: "home Address?", Self.others)
        let home: BSONDocument = ["city": "x", "state": "NY", "tags": [], "other": .undefined]
        #expect(
            try schema.findings(["_id": 1, "other": ["x": nil], "home": .object(home), "_id_realm_transaction": 1])
                == [])
    }

    /// The client does not read ignored fields, unsupported fields and relations, so these fields may have any value.
    @Test func ignoredFields() throws {
        let schema = try CompiledSchema(prisma: "a Int @ignore\n b Unsupported(\"x\")\n c User? @relation(\"r\")")
        #expect(try schema.findings(["_id": 1, "a": "x", "b": "x", "c": "x"]) == [])
    }

    @Test func aStoredNameAndAnEnumsStoredValue() throws {
        let schema = try CompiledSchema(
            prisma: "mail String @map(\"email\")\n role Kind", "enum Kind {\n USER @map(\"user\")\n}")
        #expect(try schema.findings(["_id": 1, "email": "x", "role": "user"]) == [])
        #expect(
            try schema.findings(["_id": 1, "mail": "x", "role": "USER"]) == [
                "not-in-enum certain role: enum Kind / other string",
                "required-missing certain email: String / missing",
            ])
    }

    @Test func anEnumOfManyValues() throws {
        let members = (0..<100).map { "M\($0)_\(String(repeating: "x", count: $0))" }
        let schema = try CompiledSchema(prisma: "role Kind", "enum Kind {\n\(members.joined(separator: "\n"))\n}")
        for member in members { #expect(try schema.verdict(["_id": 1, "role": .string(member)]) == .fits) }
        for other in ["", "M0", "M5_xxxx", "m5_xxxxx", "M99_\(String(repeating: "x", count: 98))y"] {
            #expect(try schema.verdict(["_id": 1, "role": .string(other)]) == .certain, "\(other)")
        }
    }

    @Test func moreThan64RequiredFields() throws {
        let schema = try CompiledSchema(prisma: (0..<70).map { "f\($0) Int" }.joined(separator: "\n"))
        let all = (0..<70).map { ("f\($0)", BSONValue.int(1)) }
        #expect(try schema.findings(BSONDocument([("_id", 1)] + all)) == [])
        #expect(
            try schema.findings(BSONDocument([("_id", 1)] + all.dropLast())) == [
                "required-missing certain f69: Int / missing"
            ])
    }

    /// A type that contains itself is one type, so it is judged at any depth.
    @Test func aTypeThatContainsItself() throws {
        let schema = try CompiledSchema(prisma: "root Node?", "type Node {\n n Int\n next Node?\n}")
        func chain(_ depth: Int, _ last: BSONDocument) -> BSONDocument {
            depth == 0 ? last : ["n": 1, "next": .object(chain(depth - 1, last))]
        }
        #expect(try schema.verdict(["_id": 1, "root": .object(chain(3, [:]))]) == .certain)
        #expect(try schema.verdict(["_id": 1, "root": .object(chain(40, [:]))]) == .certain)
        #expect(try schema.verdict(["_id": 1, "root": .object(chain(40, ["n": 1]))]) == .fits)
        let path = (["root"] + Array(repeating: "next", count: 40) + ["n"]).joined(separator: ".")
        #expect(
            try schema.findings(["_id": 1, "root": .object(chain(40, ["n": "x"]))]) == [
                "type-mismatch certain \(path): Int / string"
            ])
        #expect(schema.canReport(Rule.typeMismatch.code, at: path))
        #expect(!schema.canReport(Rule.typeMismatch.code, at: path + "x"))
    }

    /// Each type is compiled once, although the last one has 2^40 paths.
    @Test func typesThatUseTheNextOneTwice() throws {
        let types = (0..<40).map { "type T\($0) {\n a T\($0 + 1)?\n b T\($0 + 1)?\n}" }.joined(separator: "\n")
        let schema = try CompiledSchema(prisma: "t T0", types + "\ntype T40 {\n x Int\n}")
        func chain(_ names: some Collection<String>, _ last: BSONValue) -> BSONValue {
            names.first.map { .object(BSONDocument([($0, chain(names.dropFirst(), last))])) } ?? last
        }
        let names = (0..<40).map { $0.isMultiple(of: 3) ? "b" : "a" }
        let path = (["t"] + names + ["x"]).joined(separator: ".")
        #expect(try schema.findings(["_id": 1, "t": chain(names + ["x"], 5)]) == [])
        #expect(
            try schema.findings(["_id": 1, "t": chain(names + ["x"], "5")]) == [
                "type-mismatch certain \(path): Int / string"
            ])
        #expect(
            try schema.findings(["_id": 1, "t": chain(names, [:])]) == [
                "embedded-required-missing certain \(path): Int / missing"
            ])
        #expect(schema.canReport(Rule.typeMismatch.code, at: path))
        #expect(schema.placeNames.count >= 1_000 && schema.placeNames.count < 1_100)
        // The filter that finds good documents describes only a part of the paths.
        #expect(try #require(schema.proof).bytes.count < 10 << 20)
    }
}
