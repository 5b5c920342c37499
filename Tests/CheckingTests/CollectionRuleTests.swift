import BSON
import Checking
import ServerSchema
import Testing

@Suite struct CollectionRuleTests {
    @Test func arrayItemType() throws {
        let schema = CompiledSchema(["tags": .list(.of(.string))])
        #expect(try schema.findings(["_id": 1, "tags": []]) == [])
        #expect(
            try schema.findings(["_id": 1, "tags": ["a", 1]]) == ["array-item-type certain tags[]: string / int"])
    }

    @Test func arrayNested() throws {
        let schema = CompiledSchema(["m": .list(.of(.int)), "x": .list(.of(.mixed))])
        #expect(try schema.findings(["_id": 1, "m": [[1]]]) == ["array-nested certain m[]: int / array"])
        #expect(try schema.findings(["_id": 1, "x": [[1], ["a": nil]]]) == [])
    }

    @Test func arrayItemNull() throws {
        let schema = CompiledSchema(["tags": .list(.of(.string)), "x": .list(.of(.mixed))])
        #expect(try schema.findings(["_id": 1, "tags": [nil]]) == ["array-item-null certain tags[]: string / null"])
        #expect(try schema.findings(["_id": 1, "x": [nil]]) == [])
    }

    @Test func tuplesAreJudgedByPosition() throws {
        let schema = CompiledSchema(["t": .tuple(.of(.int), .of(.string))])
        #expect(try schema.findings(["_id": 1, "t": [1, "a", true]]) == [])
        #expect(try schema.findings(["_id": 1, "t": [1]]) == [])
        #expect(try schema.findings(["_id": 1, "t": [1, 2]]) == ["array-item-type certain t[]: string / int"])
    }

    @Test func setDuplicate() throws {
        let schema = CompiledSchema(["s": .set(.of(.mixed))])
        let distinct: [BSONValue] = [
            1, 2, "1", true, nil, 1.5, ["a": 1], ["a": 2], [1], [1, 1], .uuid(1), .uuid(2), .date(milliseconds: 1),
            .decimal(coefficient: 1, exponent: -1), 0.1,
        ]
        #expect(try schema.findings(["_id": 1, "s": .array(of: distinct)]) == [])
        let wanted = ["set-duplicate possible s: distinct elements / equal elements"]
        for (value, twin): (BSONValue, BSONValue) in [
            (1, 1.0), (1, .long(1)), (1.5, .decimal(coefficient: 150, exponent: -2)), ("a", "a"), (nil, nil),
            (["a": 1, "b": 2], ["b": 2.0, "a": 1]), ([1, 2], [1.0, 2]), (.double(.nan), .decimalNaN),
            (0.0, -0.0), (.double(.infinity), .decimalInfinity),
        ] {
            #expect(try schema.findings(["_id": 1, "s": [value, "between", twin]]) == wanted, "\(value)")
        }
    }

    @Test(arguments: [1_023, 1_024, 1_025, 5_000])
    func largeSets(_ count: Int) throws {
        let schema = CompiledSchema(["s": .set(.of(.int))])
        let values = (0..<count).map { BSONValue.integer($0) }
        #expect(try schema.verdict(["_id": 1, "s": .array(of: values)]) == .fits)
        #expect(try schema.verdict(["_id": 1, "s": .array(of: values + [7])]) == .possible)
    }

    @Test func dictionaryValueType() throws {
        let schema = CompiledSchema(["d": .dictionary(.of(.string)), "untyped": .dictionary(.of(.mixed))])
        #expect(try schema.findings(["_id": 1, "d": ["a": "x"], "untyped": ["a": 1, "b": nil]]) == [])
        #expect(
            try schema.findings(["_id": 1, "d": ["a": 1]]) == ["dictionary-value-type certain d{}: string / int"])
    }

    @Test func anUntypedDictionaryHoldsMixedValues() throws {
        let untyped = SchemaNode.of(.object).with { $0.hasAdditionalProperties = true }
        let schema = CompiledSchema(["d": untyped])
        #expect(try schema.findings(["_id": 1, "d": ["a": 1, "b": nil]]) == [])
        #expect(
            try schema.findings(["_id": 1, "d": ["a": .timestamp(1)]])
                == ["mixed-type possible d{}: type that can sync / timestamp"])
    }

    @Test func dictionaryValueNull() throws {
        let address = SchemaNode.object(["city": .of(.string)])
        let schema = CompiledSchema(["d": .dictionary(.of(.string)), "e": .dictionary(address)])
        #expect(
            try schema.findings(["_id": 1, "d": ["a": nil]]) == ["dictionary-value-null possible d{}: string / null"])
        #expect(try schema.findings(["_id": 1, "e": ["a": nil]]) == [])
    }

    @Test func dictionaryKey() throws {
        let schema = CompiledSchema(["d": .dictionary(.of(.int))])
        #expect(try schema.findings(["_id": 1, "d": ["a$": 1, "b c": 2]]) == [])
        let wanted = "dictionary-key possible d: key without a dot or a leading $ / "
        #expect(
            try schema.findings(["_id": 1, "d": ["a.b": 1, "": 1, "$x": 1, "$x.y": 1]]) == [
                wanted + "key with a dot", wanted + "empty key", wanted + "key with a leading $",
                wanted + "key with a leading $",
            ])
    }

    @Test func mixedType() throws {
        let schema = CompiledSchema(["m": .of(.mixed)])
        for value: BSONValue in [nil, 1, "x", .uuid(), .decimalNaN, [1, ["a": [nil]]], ["$ref": "Pet", "$id": 1]] {
            #expect(try schema.findings(["_id": 1, "m": value]) == [], "\(value)")
        }
        for value: BSONValue in [
            .timestamp(1), .regex(pattern: "", options: ""), .minKey, .maxKey, .javascript(""),
            .binary(subtype: 5, bytes: []), .binary(subtype: 4, bytes: [1]),
            .binary(subtype: 3, bytes: Array(repeating: 1, count: 16)),
        ] {
            #expect(try schema.verdict(["_id": 1, "m": value]) == .possible, "\(value)")
        }
        #expect(
            try schema.findings(["_id": 1, "m": [["a": .timestamp(1)]]])
                == ["mixed-type possible m[]{}: type that can sync / timestamp"])
        #expect(
            try schema.findings(["_id": 1, "m": .undefined]) == ["undefined-value certain m: mixed / undefined"])
    }

    @Test func mixedDepth() throws {
        let schema = CompiledSchema(["m": .of(.mixed)])
        var value: BSONValue = 1
        for _ in 0..<100 { value = [value] }
        #expect(try schema.verdict(["_id": 1, "m": value]) == .fits)
        #expect(
            try schema.findings(["_id": 1, "m": [value]])
                == ["mixed-depth certain m: at most 100 levels / more than 100 levels"])
    }

    @Test func mixedCollection() throws {
        var options = CheckOptions()
        options.allowsMixedCollections = false
        let schema = CompiledSchema(["m": .of(.mixed)], options: options)
        #expect(try schema.findings(["_id": 1, "m": ["$ref": "Pet", "$id": 1]]) == [])
        #expect(
            try schema.findings(["_id": 1, "m": [1]]) == ["mixed-collection certain m: scalar or link / array"])
    }
}
