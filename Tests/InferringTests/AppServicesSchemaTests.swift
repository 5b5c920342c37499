import BSON
import Inferring
import ServerSchema
import Testing

/// Tests inferred App Services schemas, which have one type or `mixed` for each path.
///
/// They require the fields that are never missing and never null, but do not require embedded objects.
@Suite struct AppServicesSchemaTests {
    private func schema(of values: [BSONValue]) throws -> BSONDocument? {
        try Case.inference(of: Case.documents(values)).property("x")
    }

    @Test func aFieldOfOneTypeInEveryDocumentIsRequired() throws {
        let inference = try Case.inference(of: Case.documents(["a", "b"]))
        #expect(
            try inference.json == """
                { "title" : "Thing", "bsonType" : "object", "required" : [ "_id", "x" ], "properties" : \
                { "_id" : { "bsonType" : "int" }, "x" : { "bsonType" : "string" } } }
                """)
    }

    @Test func aFieldThatIsMissingOrNullSomewhereIsOptional() throws {
        let missing = try Case.inference(of: Case.documents(10) { $0 == 3 ? [] : [("x", "a")] })
        #expect(missing.required == ["_id"])
        #expect(missing.type("x") == "string")
        let null = try Case.inference(of: Case.documents(["a", .null]))
        #expect(null.required == ["_id"])
        #expect(null.type("x") == "string")
    }

    @Test(arguments: [
        ([BSONValue.string("a"), .int(1)], "mixed"),
        ([.int(1), .int(2), .long(1 << 40)], "int"),
        ([.long(1 << 40), .long(1), .int(2)], "long"),
        ([.int(1), .double(0.5)], "double"),
        ([.double(1), .double(2)], "double"),
        ([.long(.max), .double(0.5)], "mixed"),
        ([.binary(subtype: 4, bytes: Array(repeating: 1, count: 16))], "uuid"),
        ([.binary(subtype: 0, bytes: [1])], "binData"),
        ([.binary(subtype: 3, bytes: Array(repeating: 1, count: 16))], "binData"),
        ([.date(milliseconds: 0)], "date"), ([.bool(true)], "bool"),
    ]) func theTypeAcceptsEveryValue(_ values: [BSONValue], _ expected: String) throws {
        let inference = try Case.inference(of: Case.documents(values))
        #expect(inference.type("x") == .string(expected))
        #expect(try Case.outcome(inference, on: Case.documents(values)).failing == 0)
    }

    @Test(arguments: [BSONValue.null, .regex(pattern: "a", options: ""), .minKey, .undefined])
    func propertiesWithoutAClientTypeAreLeftOut(_ value: BSONValue) throws {
        let inference = try Case.inference(of: Case.documents([value]))
        #expect(inference.property("x") == nil)
        #expect(try #require(inference.summary("x")).declared.isEmpty)
    }

    @Test func aDeprecatedTypeNextToAnotherLeavesTheFieldOut() throws {
        let documents = Case.documents([.symbol("a"), .int(1)])
        let inference = try Case.inference(of: documents)
        #expect(inference.property("x") == nil)
        #expect(try Case.outcome(inference, on: documents).failing == 0)
    }

    @Test func arraysSayWhatTheyHold() throws {
        #expect(try schema(of: [["a"], ["b", "c"], []]) == ["bsonType": "array", "items": ["bsonType": "string"]])
        #expect(try schema(of: [["a", 1]]) == ["bsonType": "array", "items": ["bsonType": "mixed"]])
        #expect(try schema(of: [["a", .null]]) == ["bsonType": "array", "items": ["bsonType": "mixed"]])
        #expect(try schema(of: [[["a"]]]) == ["bsonType": "array", "items": ["bsonType": "mixed"]])
        #expect(try schema(of: [[]]) == ["bsonType": "array", "items": ["bsonType": "mixed"]])
    }

    @Test func objectsBecomeTypesOfTheirOwn() throws {
        let inference = try Case.inference(of: Case.documents([["b": 1, "a": "t"], ["b": 2]]))
        #expect(
            inference.property("x") == [
                "title": "Thing_x", "bsonType": "object", "required": ["b"],
                "properties": ["a": ["bsonType": "string"], "b": ["bsonType": "int"]],
            ])
        // Clients cannot guarantee that an embedded object is present, so the schema does not require it, even if every
        // document has it.
        #expect(inference.required == ["_id"])
        let empty = try schema(of: [.object([:])])
        #expect(empty == ["bsonType": "object", "additionalProperties": ["bsonType": "mixed"]])
    }

    @Test func namesThatNoClientCanAddressAreLeftOut() throws {
        let names = ["", "$a", "a.b", String(repeating: "n", count: 64), "ok"]
        let inference = try Case.inference(of: Case.documents(3) { _ in names.map { ($0, "v") } })
        #expect(inference.required == ["_id", "ok"])
        #expect(inference.summary("\"a.b\"")?.declared.isEmpty == true)
    }

    @Test(arguments: [
        (BSONValue.objectID(ObjectID(high: 1, low: 2)), "objectId"), (.string("a"), "string"), (.int(1), "int"),
        (.long(1), "long"), (.binary(subtype: 4, bytes: Array(repeating: 1, count: 16)), "uuid"),
    ]) func aKeyHasATypeThatClientsHave(_ id: BSONValue, _ type: String) throws {
        let inference = try Case.inference(of: [["_id": id]])
        #expect(inference.type("_id") == .string(type))
    }

    @Test func keysOfSeveralTypesCannotAllSync() throws {
        let documents = (0..<10).map { BSONDocument([("_id", $0 < 7 ? .integer($0) : .string("\($0)"))]) }
        let inference = try Case.inference(of: documents)
        let outcome = try Case.outcome(inference, on: documents)
        #expect(inference.type("_id") == "int")
        #expect(outcome.failing == 3 && !outcome.isWithinCover)
    }

    @Test func deeperThanMixedMayBeIsLeftOut() throws {
        func nested(_ levels: Int) -> BSONValue { levels == 0 ? "end" : ["in": nested(levels - 1)] }
        for levels in [1, 31, 60, 131, 140, 200] {
            let documents = Case.documents([nested(levels)])
            for dialect in [Dialect.appServices, .jsonSchema] {
                let inference = try Case.inference(of: documents, Case.options(dialect))
                #expect(try Case.outcome(inference, on: documents).failing == 0, "\(levels) levels")
            }
        }
    }
}
