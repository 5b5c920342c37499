import BSON
import Checking
import ServerSchema
import Testing

@Suite struct TypeRuleTests {
    @Test func typeMismatch() throws {
        let schema = CompiledSchema(["age": .of(.int), "either": .of(.string, .bool)])
        #expect(try schema.findings(["_id": 1, "age": 7, "either": true]) == [])
        #expect(try schema.findings(["_id": 1, "either": "x"]) == [])
        #expect(
            try schema.findings(["_id": 1, "age": "7", "either": 1]) == [
                "type-mismatch certain age: int / string", "type-mismatch certain either: string or bool / int",
            ])
    }

    static let scalars: [(SchemaType, BSONValue)] = [
        (.double, 1.5), (.string, "x"), (.objectId, .objectID(ObjectID(high: 1, low: 2))), (.bool, true),
        (.date, .date(milliseconds: 0)), (.int, 1), (.long, .long(1)), (.uuid, .uuid()),
        (.binData, .binary(subtype: 0, bytes: [])), (.decimal, .decimal(coefficient: 15, exponent: -1)),
        (.regex, .regex(pattern: "a", options: "")), (.timestamp, .timestamp(1)), (.javascript, .javascript("1")),
        (.minKey, .minKey), (.maxKey, .maxKey), (.array, []), (.object, [:]),
    ]

    @Test func everyTypeFitsItselfAlone() throws {
        for (type, _) in Self.scalars {
            let schema = CompiledSchema(["x": .of(type)])
            for (other, value) in Self.scalars {
                let numbers: Set<SchemaType> = [.double, .int, .long, .decimal]
                if numbers.isSuperset(of: [type, other]), type != other { continue }
                #expect(try (schema.verdict(["_id": 1, "x": value]) == .fits) == (type == other), "\(type) \(other)")
            }
        }
    }

    @Test func nullID() throws {
        let schema = CompiledSchema(["_id": .of(.int)], required: ["_id"])
        #expect(try schema.findings(["_id": nil]) == ["null-id possible _id: int / null"])
    }

    @Test func idTypeMismatch() throws {
        let schema = CompiledSchema(["_id": .of(.objectId)], required: ["_id"])
        #expect(try schema.findings(["_id": .objectID(ObjectID(high: 1, low: 2))]) == [])
        #expect(try schema.findings(["_id": "abc"]) == ["id-type-mismatch certain _id: objectId / string"])
        for type in [SchemaType.int, .long] {
            let number = CompiledSchema(["_id": .of(type)])
            #expect(try number.findings(["_id": 1]) == [])
            #expect(try number.findings(["_id": .long(1)]) == [])
            #expect(try number.verdict(["_id": 1.0]) == .certain)
        }
    }

    @Test func embeddedNotObject() throws {
        let schema = CompiledSchema(["a": .object(["b": .of(.int)], title: "A"), "d": .dictionary(.of(.int))])
        #expect(try schema.findings(["_id": 1, "a": ["b": 1], "d": ["x": 1]]) == [])
        #expect(
            try schema.findings(["_id": 1, "a": "x", "d": [1]]) == [
                "embedded-not-object certain a: embedded A / string",
                "embedded-not-object certain d: dictionary of int / array",
            ])
    }

    @Test func arrayNotArray() throws {
        let schema = CompiledSchema(["tags": .list(.of(.string)), "ids": .set(.of(.int))])
        #expect(try schema.findings(["_id": 1, "tags": ["a"], "ids": [1]]) == [])
        #expect(
            try schema.findings(["_id": 1, "tags": "a", "ids": [:]]) == [
                "array-not-array certain tags: list of string / string",
                "array-not-array certain ids: set of int / object",
            ])
    }

    @Test func undefinedValue() throws {
        let schema = CompiledSchema(["x": .of(.string), "any": SchemaNode(location: SchemaNode.nowhere)])
        #expect(try schema.findings(["_id": 1, "x": .undefined]) == ["undefined-value certain x: string / undefined"])
        #expect(try schema.verdict(["_id": 1, "x": .symbol("s")]) == .certain)
        #expect(try schema.verdict(["_id": 1, "x": .dbPointer("a.b", ObjectID(high: 1, low: 2))]) == .certain)
        #expect(try schema.verdict(["_id": 1, "any": .undefined]) == .fits)
    }

    @Test func binarySubtype() throws {
        let schema = CompiledSchema(["blob": .of(.binData)])
        #expect(try schema.findings(["_id": 1, "blob": .binary(subtype: 0, bytes: [1])]) == [])
        #expect(
            try schema.findings(["_id": 1, "blob": .binary(subtype: 5, bytes: [1])]) == [
                "binary-subtype possible blob: binData of subtype 0 / binData of subtype 5, not 16 bytes"
            ])
    }

    @Test func uuidSubtype() throws {
        let schema = CompiledSchema(["u": .of(.uuid)])
        #expect(try schema.findings(["_id": 1, "u": .uuid()]) == [])
        let legacy = BSONValue.binary(subtype: 3, bytes: Array(repeating: 1, count: 16))
        #expect(
            try schema.findings(["_id": 1, "u": legacy]) == [
                "uuid-subtype certain u: binData of subtype 4, 16 bytes / binData of subtype 3, 16 bytes"
            ])
        #expect(try schema.verdict(["_id": 1, "u": .binary(subtype: 4, bytes: [1])]) == .certain)
        #expect(try schema.verdict(["_id": 1, "u": "text"]) == .certain)
    }

    @Test func reservedField() throws {
        let schema = CompiledSchema([:])
        for name in ["_id__baas_transaction", "_id_realm_transaction"] {
            #expect(try schema.verdict(["_id": 1, name: 1]) == .warning)
            #expect(
                try schema.findings(["_id": 1, name: 1]) == ["reserved-field warning \(name): no write lock / int"])
        }
        #expect(try schema.verdict(["_id": 1, "_id__baas_transactions": 1]) == .fits)
    }

    @Test func extraField() throws {
        let schema = CompiledSchema(["a": .object(["b": .of(.int)])])
        #expect(
            try schema.findings(["_id": 1, "legacy": 1, "a": ["b": 1, "c.d": "x"]]) == [
                "extra-field info legacy: no such field / int", "extra-field info a.\"c.d\": no such field / string",
            ])
        #expect(try schema.verdict(["_id": 1, "legacy": 1]) == .fits)
    }

    @Test func additionalProperty() throws {
        let closed = CompiledSchema(["a": .of(.int)]) { $0.additionalProperties = .forbidden }
        #expect(try closed.findings(["_id": 1, "a": 1]) == [])
        #expect(
            try closed.findings(["_id": 1, "b": 1]) == ["additional-property possible b: no such field / int"])
        let typed = CompiledSchema(["a": .of(.int)]) { $0.additionalProperties = .schema(.of(.string)) }
        #expect(try typed.verdict(["_id": 1, "b": 1]) == .possible)
        #expect(try typed.findings(["_id": 1, "b": "x"]) == ["extra-field info b: no such field / string"])
    }

    @Test func geoPoint() throws {
        let point = SchemaNode.object(
            ["type": .of(.string), "coordinates": .list(.of(.double))], required: ["type"], title: "GeoPoint")
        let schema = CompiledSchema(["place": point])
        func findings(_ coordinates: BSONValue?) throws -> [String] {
            var fields: [(String, BSONValue)] = [("type", "Point")]
            if let coordinates { fields.append(("coordinates", coordinates)) }
            return try schema.findings(["_id": 1, "place": .object(BSONDocument(fields))])
        }
        #expect(try findings([180.0, -90.0]) == [])
        #expect(try findings([1.0, 2.0, 300.0]) == [])
        let wanted = "geo-point certain place: longitude and latitude in range, as doubles / "
        #expect(try findings([180.5, 0.0]) == [wanted + "coordinate out of range"])
        #expect(try findings([0.0, 90.5]) == [wanted + "coordinate out of range"])
        #expect(try findings([.double(.nan), 0.0]) == [wanted + "coordinate out of range"])
        #expect(try findings([1.0]) == [wanted + "fewer than two coordinates"])
        #expect(try findings(nil) == [wanted + "no coordinates"])
        #expect(try findings([1, 2.0]).last == wanted + "coordinate that is not a double")
        #expect(try schema.findings(["_id": 1, "place": ["type": "Elsewhere"]]) == [])
    }
}
