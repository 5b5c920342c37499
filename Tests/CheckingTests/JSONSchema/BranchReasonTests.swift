import BSON
import Checking
import ServerSchema
import Testing

/// Tests the reasons for a value that fits no schema of `oneOf` or `anyOf`: those of the schema that it selects.
@Suite("Reasons inside oneOf and anyOf") struct BranchReasonTests {
    /// An optional object, as Prisma 8 and many other tools describe it.
    private static func optional(_ keyword: String) -> String {
        """
        {properties: {a: {\(keyword): [{bsonType: 'null'}, {bsonType: 'object', additionalProperties: false,
          required: ['n'], properties: {n: {bsonType: 'int'}, t: {bsonType: ['null', 'string']}}}]}}}
        """
    }

    /// A collection of two kinds of documents, which the field `kind` names.
    private static let kinds = """
        {bsonType: 'object', required: ['_id', 'kind'], properties: {_id: {bsonType: 'int'}, kind: {bsonType: 'string'},
         t: {bsonType: 'string'}}, oneOf: [
          {properties: {_id: {bsonType: 'int'}, t: {bsonType: 'string'}, kind: {enum: ['a']}, n: {bsonType: 'int'}},
           required: ['kind', 'n'], additionalProperties: false},
          {properties: {_id: {bsonType: 'int'}, t: {bsonType: 'string'}, kind: {enum: ['b']}, n: {bsonType: 'date'}},
           required: ['kind'], additionalProperties: false}]}
        """

    private func reasons(_ schema: String, _ document: String) throws -> [String] {
        let compiled = try CompiledSchema(jsonSchema: schema)
        let violations = try compiled.violations(of: document)
        #expect(try compiled.verdict(on: document) == (violations.isEmpty ? .fits : .certain))
        return violations.map { "\($0)" }.sorted()
    }

    @Test(arguments: ["oneOf", "anyOf"])
    func anOptionalObjectHasTheReasonsOfTheObject(_ keyword: String) throws {
        let schema = Self.optional(keyword)
        for fitting in ["{}", "{a: null}", "{a: {n: 1}}", "{a: {n: 1, t: null}}"] {
            #expect(try reasons(schema, fitting) == [])
        }
        let extra = "a.x: additional-property, expected no such field, found int"
        let missing = "a.n: required-missing, expected int, found missing"
        #expect(try reasons(schema, "{a: {x: 1}}") == [missing, extra])
        #expect(
            try reasons(schema, "{a: {n: 1.5, t: 3}}")
                == [
                    "a.n: type-mismatch, expected int, found double",
                    "a.t: type-mismatch, expected null or string, found int",
                ])
        #expect(try reasons(schema, "{a: 'x'}") == ["a: type-mismatch, expected embedded object, found string"])
    }

    @Test func theTypeSelectsAmongScalarsToo() throws {
        let schema = "{properties: {a: {anyOf: [{bsonType: 'int', minimum: 5}, {bsonType: 'string', maxLength: 2}]}}}"
        #expect(try reasons(schema, "{a: 1}") == ["a: below-minimum, expected at least 5, found int"])
        #expect(try reasons(schema, "{a: 'abc'}") == ["a: too-long, expected at most 2 characters, found string"])
        // Two schemas remain for a date, so none is selected.
        #expect(try reasons(schema, "{a: true}") == ["a: any-of, expected any of 2 schemas, found bool"])
        let ambiguous = "{properties: {a: {oneOf: [{minimum: 5}, {maximum: 3}]}}}"
        #expect(
            try reasons(ambiguous, "{a: 4}") == [
                "a: one-of, expected exactly one of 2 schemas, found int that fits none"
            ])
    }

    @Test func aFieldWithOneAllowedValueSelectsTheSchema() throws {
        #expect(try reasons(Self.kinds, "{_id: 1, kind: 'a', n: 1}") == [])
        #expect(try reasons(Self.kinds, "{_id: 1, kind: 'b', t: 'x'}") == [])
        #expect(
            try reasons(Self.kinds, "{_id: 1, kind: 'a'}")
                == [#"n: required-missing, expected int, where kind is "a", found missing"#])
        #expect(
            try reasons(Self.kinds, "{_id: 1, kind: 'b', n: 1}")
                == [#"n: type-mismatch, expected date, where kind is "b", found int"#])
    }

    @Test func aFieldThatAllSchemasShareHasOneReason() throws {
        let found = try reasons(Self.kinds, "{_id: 1, kind: 'b', t: 1}")
        #expect(Set(found) == ["t: type-mismatch, expected string, found int"])
    }

    @Test func aValueThatSelectsNoSchemaIsTheReason() throws {
        #expect(
            try reasons(Self.kinds, "{_id: 1, kind: 'c'}")
                == ["kind: not-in-enum, expected one of 2 values, found string"])
        #expect(try reasons(Self.kinds, "{_id: 1, n: 1}") == ["kind: required-missing, expected string, found missing"])
    }

    @Test func schemasInListsAndInEachOtherAreFollowed() throws {
        let schema = "{properties: {l: {items: \(Self.kinds)}, o: {oneOf: [{bsonType: 'null'}, \(Self.kinds)]}}}"
        #expect(
            try reasons(schema, "{l: [{_id: 1, kind: 'b', n: 1}], o: {_id: 1, kind: 'a', n: 'x'}}") == [
                #"l[].n: type-mismatch, expected date, where l[].kind is "b", found int"#,
                #"o.n: type-mismatch, expected int, where o.kind is "a", found string"#,
            ])
    }
}
