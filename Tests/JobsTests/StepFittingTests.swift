import BSON
import JobsSupport
import ServerSchema
import Testing

@testable import Jobs

/// Tests that, before a run, each step gets the types of its fields from the schemas, or is refused.
@Suite struct StepFittingTests {
    private static let next = SchemaNode.object([
        "email": .of(.string), "age": .of(.long), "score": .of(.double), "price": .of(.decimal), "any": .of(.mixed),
        "id": .of(.uuid), "either": .of(.string, .null), "address": .object(["city": .of(.string)]),
    ])
    private static let active = SchemaNode.object(["old": .of(.string)])

    private func fit(_ step: Step, active: SchemaNode? = active, next: SchemaNode? = next) throws -> Step {
        let place = SourceLocation(file: "j.yml", line: 6, column: 5)
        return try StepFitting.fit(Job.LocatedStep(step: step, location: place), active: active, next: next)
    }

    @Test(
        arguments: [
            ("age", 0, .long(0)), ("score", 0, 0.0), ("score", .long(1 << 53), .double(0x1p53)), ("score", 1.5, 1.5),
            ("price", 0, .decimal(Decimal128(0))), ("price", .long(7), .decimal(Decimal128(7))), ("email", "", ""),
            ("any", 1, 1), ("any", ["a": 1], ["a": 1]), ("address.city", "Bern", "Bern"), ("either", 1, 1),
            ("address", [:], [:]), ("old", 5, 5),
            ("id", .binary(subtype: 4, bytes: Array(0..<16)), .binary(subtype: 4, bytes: Array(0..<16))),
        ] as [(String, BSONValue, BSONValue)])
    func aConstantTakesTheDeclaredTypeWhereThatIsExact(_ field: String, _ value: BSONValue, _ fitted: BSONValue) throws
    {
        let step = try fit(.default(field: try FieldPath(field), value: value, nullsToo: true))
        #expect(step == .default(field: try FieldPath(field), value: fitted, nullsToo: true))
    }

    @Test(
        arguments: [
            ("email", 0, "int", "string"), ("age", "0", "string", "long"), ("age", 0.0, "double", "long"),
            ("score", .long(1 << 53 + 1), "long", "double"), ("price", 0.5, "double", "decimal"),
            ("email", nil, "null", "string"), ("address", [], "array", "object"), ("address.city", 1, "int", "string"),
            ("id", .binary(subtype: 3, bytes: Array(0..<16)), "binData", "uuid"),
            ("id", .binary(subtype: 4, bytes: [1]), "binData", "uuid"),
        ] as [(String, BSONValue, String, String)])
    func aConstantOfAnotherTypeIsRefused(_ field: String, _ value: BSONValue, _ type: String, _ declared: String) {
        let error = Fixture.failure { try fit(.default(field: try FieldPath(field), value: value, nullsToo: false)) }
        #expect(
            error == "j.yml:6:5: the default of \"\(field)\" has type \(type), and the next schema declares \(declared)"
        )
    }

    @Test(arguments: [
        ("emial", " (did you mean \"email\"?)"), ("address.ctiy", " (did you mean \"address.city\"?)"),
        ("odl", " (did you mean \"old\"?)"), ("somethingElse", ""), ("email.part", ""),
        ("address.city.zip", " (did you mean \"address.city\"?)"),
    ])
    func anUndeclaredTargetIsRefused(_ field: String, _ hint: String) {
        let error = Fixture.failure { try fit(.copy(from: try FieldPath("age"), to: try FieldPath(field))) }
        #expect(error == "j.yml:6:5: no schema of the job declares the field \"\(field)\"\(hint)")
    }

    @Test func aConversionEndsInTheDeclaredType() throws {
        let age = try FieldPath("age")
        #expect(throws: Never.self) { try fit(.convert(field: age, to: .long, into: nil)) }
        #expect(throws: Never.self) { try fit(.convert(field: age, to: .int, into: try FieldPath("any"))) }
        #expect(throws: Never.self) { try fit(.convert(field: age, to: .int, into: try FieldPath("either"))) }
        #expect(
            Fixture.failure { try fit(.convert(field: age, to: .int, into: nil)) }
                == "j.yml:6:5: \"age\" is converted to int, and the next schema declares long")
        #expect(
            Fixture.failure { try fit(.convert(field: age, to: .int, into: try FieldPath("email"))) }
                == "j.yml:6:5: \"email\" is converted to int, and the next schema declares string")
    }

    @Test func withoutANextSchemaOnlyTheTargetIsLookedUp() throws {
        let step = Step.default(field: try FieldPath("old"), value: 5, nullsToo: false)
        #expect(try fit(step, next: nil) == step)
        #expect(Fixture.failure { try fit(.copy(from: try FieldPath("a"), to: try FieldPath("b")), next: nil) } != nil)
        let undeclared = Step.default(field: try FieldPath("nowhere"), value: 5, nullsToo: false)
        #expect(try fit(undeclared, active: nil, next: nil) == undeclared)
    }
}
