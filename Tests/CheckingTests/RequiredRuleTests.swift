import BSON
import Checking
import ServerSchema
import Testing

@Suite struct RequiredRuleTests {
    @Test func nullOptionalUnderDataAccessValidation() throws {
        var options = CheckOptions()
        options.refusesNulls = true
        let schema = CompiledSchema(
            [
                "nick": .of(.string), "home": .object([:]), "tags": .list(.of(.int)), "either": .of(.string, .null),
                "any": .of(.mixed),
            ], options: options)
        #expect(try schema.findings(["_id": 1, "either": nil, "any": nil]) == [])
        #expect(
            try schema.findings(["_id": 1, "nick": nil, "home": nil, "tags": nil]) == [
                "null-optional possible nick: string / null", "null-optional possible home: embedded object / null",
                "null-optional possible tags: list of int / null",
            ])
    }

    @Test func requiredMissing() throws {
        let schema = CompiledSchema(["name": .of(.string)], required: ["name"])
        #expect(try schema.findings(["_id": 1, "name": ""]) == [])
        #expect(try schema.findings(["_id": 1]) == ["required-missing certain name: string / missing"])
        #expect(try schema.verdict(["_id": 1]) == .certain)
    }

    @Test(arguments: [SchemaNode.list(.of(.string)), .set(.of(.int)), .dictionary(.of(.int))])
    func requiredMissingOfACollectionIsOnlyPossible(_ node: SchemaNode) throws {
        let schema = CompiledSchema(["x": node], required: ["x"])
        #expect(try schema.verdict(["_id": 1]) == .possible)
        #expect(try schema.findings(["_id": 1]).first?.hasPrefix("required-missing possible x") == true)
    }

    @Test func requiredMissingDefaulted() throws {
        let schema = CompiledSchema(["name": .of(.string, default: "x")], required: ["name"])
        #expect(try schema.verdict(["_id": 1]) == .fits)
        #expect(try schema.findings(["_id": 1]) == ["required-missing-defaulted info name: string / missing"])
        #expect(try schema.verdict(["_id": 1, "name": nil]) == .certain)
    }

    @Test func aDefaultOfTheWrongTypeDoesNotSave() throws {
        let schema = CompiledSchema(["name": .of(.string, default: 5)], required: ["name"])
        #expect(
            try schema.findings(["_id": 1])
                == ["required-missing certain name: string / missing, and its default is of type int"])
        let null = CompiledSchema(["name": .of(.string, default: .null)], required: ["name"])
        #expect(try null.findings(["_id": 1]) == ["required-missing certain name: string / missing"])
        let wide = CompiledSchema(["n": .of(.double, default: 0)], required: ["n"])
        #expect(try wide.verdict(["_id": 1]) == .fits)
    }

    @Test func requiredNull() throws {
        let schema = CompiledSchema(["name": .of(.string), "any": .of(.mixed)], required: ["name", "any"])
        #expect(try schema.findings(["_id": 1, "name": "a", "any": 1]) == [])
        #expect(
            try schema.findings(["_id": 1, "name": nil, "any": nil])
                == ["required-null certain name: string / null", "required-null certain any: mixed / null"])
    }

    @Test func nullOptional() throws {
        let schema = CompiledSchema(["nick": .of(.string), "other": .of(.string, .null)])
        #expect(try schema.verdict(["_id": 1, "nick": nil]) == .fits)
        #expect(try schema.findings(["_id": 1, "nick": nil]) == ["null-optional info nick: string / null"])
        #expect(try schema.violations(in: (["_id": 1, "nick": nil] as BSONDocument).view, includingInfo: false) == [])
        #expect(try schema.findings(["_id": 1, "other": nil]) == [])
        #expect(try schema.findings(["_id": 1]) == [])
    }

    @Test func nullInPlaceOfACollectionIsReported() throws {
        let schema = CompiledSchema(["l": .list(.of(.int)), "d": .dictionary(.of(.int))])
        #expect(try schema.verdict(["_id": 1, "l": nil]) == .warning)
        #expect(
            try schema.findings(["_id": 1, "l": nil, "d": nil]) == [
                "null-optional warning l: list of int / null", "null-optional warning d: dictionary of int / null",
            ])
    }

    @Test func embeddedRequiredMissingAndNull() throws {
        let address = SchemaNode.object(["city": .of(.string)], required: ["city"], title: "Address")
        let schema = CompiledSchema([
            "home": address, "others": .list(address), "byName": .dictionary(address),
        ])
        #expect(try schema.findings(["_id": 1, "home": ["city": "x"], "others": [], "byName": [:]]) == [])
        #expect(try schema.verdict(["_id": 1, "home": nil]) == .fits)
        #expect(
            try schema.findings(["_id": 1, "home": [:], "others": [["city": nil]], "byName": ["a": [:]]]) == [
                "embedded-required-missing certain home.city: string / missing",
                "embedded-required-null certain others[].city: string / null",
                "embedded-required-missing certain byName{}.city: string / missing",
            ])
    }

    @Test func aRequiredNameThatNoPropertyDefinesMustStillBeThere() throws {
        let schema = CompiledSchema(["a": .of(.int)], required: ["ghost"])
        #expect(try schema.findings(["_id": 1]) == ["required-missing certain ghost: any value / missing"])
        #expect(try schema.findings(["_id": 1, "ghost": nil]).first == "required-null certain ghost: any value / null")
        #expect(try schema.findings(["_id": 1, "ghost": 5]) == ["extra-field info ghost: no such field / int"])
    }

    @Test(arguments: [63, 64, 65, 128, 200])
    func anyNumberOfRequiredFields(_ count: Int) throws {
        var root = SchemaNode.object(["_id": .of(.int)])
        let names = (0..<count).map { "a field of some length, number \($0)" }
        root.properties += names.map { .init(name: $0, node: .of(.int)) }
        root.required = names
        let schema = CompiledSchema(root: root)
        let all: [(String, BSONValue)] = [("_id", 1)] + names.map { ($0, 1) }
        #expect(try schema.verdict(BSONDocument(all)) == .fits)
        #expect(try schema.verdict(BSONDocument(all.reversed())) == .fits)
        for gap in [1, count / 2, count] {
            var some = all
            let name = some.remove(at: gap).0
            #expect(
                try schema.findings(BSONDocument(some)) == ["required-missing certain \(name): int / missing"])
        }
    }
}
