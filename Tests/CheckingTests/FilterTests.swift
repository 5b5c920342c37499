import BSON
import ServerSchema
import Testing

@testable import Checking

/// Tests the long forms of the filters that find the documents of a group of violations.
///
/// Other tests use a server to check that the filters find the right documents.
@Suite struct FilterTests {
    private func filter(
        _ properties: KeyValuePairs<String, SchemaNode>, required: [String] = [], _ document: BSONDocument
    ) throws -> (BSONValue?, isExact: Bool) {
        var tally = Tally(CompiledSchema(properties, required: required))
        try tally.add(document.view)
        let forms = FilterBuilder(schema: tally.schema).forms(for: try #require(tally.groups.first).key)
        return (forms.long["$expr"], forms.isExact)
    }

    @Test func aFieldOfAnEmbeddedObjectIsLookedForOnlyInAnObject() throws {
        let home = SchemaNode.object(["city": .of(.string)], required: ["city"])
        let (filter, _) = try filter(["home": home], ["_id": 1, "home": [:]])
        #expect(
            filter == [
                "$cond": [
                    ["$eq": [["$type": "$home"], "object"]], ["$eq": [["$type": "$home.city"], "missing"]], false,
                ]
            ])
    }

    @Test func elementsAndValuesAreComparedOneByOne() throws {
        let (list, _) = try filter(["tags": .list(.of(.string))], ["_id": 1, "tags": [nil]])
        #expect(
            list == [
                "$cond": [
                    ["$isArray": ["$tags"]],
                    [
                        "$anyElementTrue": [
                            ["$map": ["input": "$tags", "as": "e1", "in": ["$eq": [["$type": "$$e1"], "null"]]]]
                        ]
                    ], false,
                ]
            ])
        let (values, _) = try filter(["d": .dictionary(.of(.string))], ["_id": 1, "d": ["a": 1]])
        #expect(
            values == [
                "$cond": [
                    ["$eq": [["$type": "$d"], "object"]],
                    [
                        "$anyElementTrue": [
                            [
                                "$map": [
                                    "input": ["$objectToArray": "$d"], "as": "e1",
                                    "in": ["$eq": [["$type": "$$e1.v"], "int"]],
                                ]
                            ]
                        ]
                    ], false,
                ]
            ])
    }

    @Test func aNameThatAPathCannotSpellIsLookedForAmongTheNames() throws {
        let (filter, _) = try filter(["a.b": .of(.string)], ["_id": 1, "a.b": 1])
        let isName: BSONValue = [
            "$and": [
                ["$eq": [["$strLenBytes": "$$f.k"], 3]],
                ["$eq": [["$indexOfBytes": ["$$f.k", ["$literal": "a.b"]]], 0]],
            ]
        ]
        let found: BSONValue = ["$filter": ["input": ["$objectToArray": "$$ROOT"], "as": "f", "cond": isName]]
        let field: BSONValue = ["$let": ["vars": ["f": ["$arrayElemAt": [found, 0]]], "in": "$$f.v"]]
        #expect(filter == ["$eq": [["$type": field], "int"]])
    }

    /// Two elements of a set are equal even if their fields are in a different order.
    ///
    /// The filter uses the keyword `uniqueItems`, because only this keyword also ignores the order of the fields.
    @Test func equalElementsAreFoundByUniqueItems() throws {
        let pets = SchemaNode.list(.object(["a.b": .set(.of(.mixed))]))
        var tally = Tally(CompiledSchema(["pets": .dictionary(pets)]))
        let duplicates: BSONValue = [["x": 1, "y": 2], ["y": 2, "x": 1]]
        try tally.add((["_id": 1, "pets": ["first": [["a.b": duplicates]]]] as BSONDocument).view)
        let group = try #require(tally.violationGroups.first { $0.violation.rule == .setDuplicate })
        let object: BSONValue = ["patternProperties": [#"^a\.b\z"#: ["uniqueItems": true]]]
        let list: BSONValue = ["properties": ["pets": ["additionalProperties": ["items": object]]]]
        #expect(group.filter == ["$nor": [["$jsonSchema": list]]])
        #expect(group.filterIsExact)
    }

    @Test func aFilterThatFindsMoreSaysSo() throws {
        #expect(try !filter(["b": .of(.binData)], ["_id": 1, "b": .binary(subtype: 5, bytes: [])]).isExact)
        #expect(
            try filter(["u": .of(.uuid)], ["_id": 1, "u": .binary(subtype: 3, bytes: .init(repeating: 1, count: 16))])
                .isExact)
        #expect(try !filter(["t": .tuple(.of(.int), .of(.string))], ["_id": 1, "t": ["x"]]).isExact)
        #expect(try filter(["s": .set(.of(.int))], ["_id": 1, "s": [1, 1]]).isExact)
        #expect(try filter(["s": .set(.of(.mixed))], ["_id": 1, "s": [1, 1]]).isExact)
        #expect(try filter(["n": .of(.int)], ["_id": 1, "n": 1.5]).isExact)
        #expect(try !filter(["n": .of(.int, .long)], ["_id": 1, "n": 1.5]).isExact)
    }

    @Test func aVeryLongPathIsCut() throws {
        var value: BSONValue = .timestamp(1)
        for _ in 0..<50 { value = [value] }
        let (_, isExact) = try filter(["m": .of(.mixed)], ["_id": 1, "m": value])
        #expect(!isExact)
    }
}
