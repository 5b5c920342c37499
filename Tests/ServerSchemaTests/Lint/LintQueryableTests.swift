import BSON
import ServerSchema
import Testing

/// Tests the lint rules for Flexible Sync: queryable fields and roles.
@Suite struct LintQueryableTests {
    private static let properties = #"""
        "name": {"bsonType": "string"}, "tags": {"bsonType": "array", "items": {"bsonType": "string"}},
        "toy": {"bsonType": "object", "title": "Toy", "properties": {"a": {"bsonType": "int"}}},
        "map": {"bsonType": "object", "additionalProperties": {"bsonType": "int"}},
        "toys": {"bsonType": "array", "items":
         {"bsonType": "object", "title": "Toy", "properties": {"a": {"bsonType": "int"}}}},
        "limit": {"bsonType": "int"}, "weight": {"bsonType": "double"}
        """#

    private func app(
        fields: String, more: String = "",
        other: String = Lint.pet(#""name": {"bsonType": "string"}"#, title: "Person"),
        _ files: [String: String] = [:]
    ) throws -> AppFolder {
        try AppFolder(
            [
                "data_sources/main/shop/Pet/schema.json": Lint.pet(Self.properties),
                "data_sources/main/shop/Person/schema.json": other,
                "sync/config.json": #"{"type": "flexible", "queryable_fields_names": [\#(fields)]\#(more)}"#,
            ].merging(files, uniquingKeysWith: { $1 }))
    }

    @Test(arguments: [
        (#""name", "nmae""#, ["queryable-unknown warning (root)"]),
        (#""name", "toy""#, ["queryable-type error toy"]),
        (#""name", "toy.a""#, ["queryable-type error (root)"]),
        (#""name", "map""#, ["queryable-type error map"]),
        (#""name", "toys""#, ["queryable-type error toys"]),
        (#""name", "limit""#, ["property-name-reserved error (root)"]),
        (#""name", "tags", "weight", "_id""#, []),
        ("", ["queryable-none info (root)", "queryable-none info (root)"]),
        (#""weight""#, ["queryable-none info (root)"]),
    ]) func fields(_ fields: String, _ codes: [String]) throws { #expect(try app(fields: fields).codes() == codes) }

    @Test func aFindingIsPlacedAtItsName() throws {
        #expect(
            try app(fields: #""name", "nmae""#).findings(.queryableUnknown) == [
                "sync/config.json:1:57: warning queryable-unknown: no schema declares the queryable field nmae "
                    + #"(did you mean "name"?)"#
            ])
    }

    @Test(arguments: [
        (#"{"Pet": ["weight"]}"#, []),
        (#"{"Pets": ["weight"]}"#, ["queryable-unknown warning (root)"]),
        (#"{"Person": ["weight"]}"#, ["queryable-unknown warning (root)"]),
        (#"{"Pet": ["map"]}"#, ["queryable-type error map"]),
    ]) func fieldsOfOneCollection(_ map: String, _ codes: [String]) throws {
        let more = #", "collection_queryable_fields_names": \#(map)"#
        #expect(try app(fields: #""name""#, more: more).codes() == codes)
    }

    @Test func aNameThatIsACollectionsAndATitle() throws {
        let more = #", "collection_queryable_fields_names": {"Person": ["name"]}"#
        let both = try app(
            fields: #""name""#, more: more, other: Lint.pet(#""name": {"bsonType": "string"}"#, title: "Human"),
            ["data_sources/main/shop/People/schema.json": Lint.pet(#""name": {"bsonType": "string"}"#, title: "Person")]
        )
        #expect(try both.codes() == ["queryable-ambiguous warning (root)"])
        #expect(try app(fields: #""name""#, more: more).codes() == [])
    }

    @Test(arguments: [
        (#""name""#, #""name""#, []),
        (
            #""name", "weight""#, #""weight""#,
            ["indexed-queryable error (root)", "indexed-queryable warning (root)"]
        ),
        (
            #""name""#, #""weigh""#,
            ["indexed-queryable error (root)", "indexed-queryable warning (root)", "indexed-queryable warning (root)"]
        ),
    ]) func theIndexedField(_ fields: String, _ indexed: String, _ codes: [String]) throws {
        let more = #", "indexed_queryable_fields_names": [\#(indexed)]"#
        #expect(try app(fields: fields, more: more).codes() == codes)
    }

    @Test func theIndexedFieldIsOneOfOneType() throws {
        let two = try app(fields: #""name", "tags""#, more: #", "indexed_queryable_fields_names": ["name", "tags"]"#)
        #expect(try two.findings(.indexedQueryable).contains { $0.contains("one indexed queryable field is allowed") })
        let other = Lint.pet(#""name": {"bsonType": "int"}"#, title: "Person")
        let types = try app(fields: #""name""#, more: #", "indexed_queryable_fields_names": ["name"]"#, other: other)
        #expect(
            try types.findings(.indexedQueryable) == [
                "sync/config.json:1:93: error indexed-queryable: name is of type string in shop.Pet, but of another in "
                    + "shop.Person (use one type everywhere)"
            ])
    }

    @Test func asymmetricTypesNeedNone() throws {
        #expect(try app(fields: #""weight""#, more: #", "asymmetric_tables": ["Person"]"#).codes() == [])
        #expect(
            try app(fields: #""name""#, more: #", "asymmetric_tables": ["Persn"]"#).codes()
                == ["asymmetric-unknown warning (root)"])
    }

    private static let filters = #""document_filters": {"read": true, "write": {"name": "%%user.id"}}, "read": true"#

    @Test(arguments: [
        (#"\#(filters), "write": true"#, []),
        (#"\#(filters), "insert": {"%and": [{"name": {"$in": ["%%values.names"]}}, {"tags.0": "a"}]}"#, []),
        (#"\#(filters), "fields": {"name": {"read": true}}, "additional_fields": {"write": false}"#, []),
        (#""read": true"#, ["it has no document_filters.read and document_filters.write"]),
        (#""document_filters": {"read": true}"#, ["it has no document_filters.write"]),
        (
            #""document_filters": {"read": true, "write": {"weight": 1}}"#,
            ["one of its conditions names weight, which is not queryable"]
        ),
        (
            #""document_filters": {"read": {"$or": [{"name": 1}, {"weight": 1}]}, "write": true}"#,
            ["one of its conditions names weight, which is not queryable"]
        ),
        (#"\#(filters), "delete": {"%%root.name": "a"}"#, ["one of its conditions uses %%root"]),
        (#"\#(filters), "delete": {"name": "%%request.ip"}"#, ["one of its conditions uses %%request"]),
        (
            #"\#(filters), "insert": {"%%true": {"%function": {"name": "f"}}}"#,
            ["one of its conditions calls a function"]
        ),
        (#"\#(filters), "write": {"name": "a"}"#, ["its write is not true or false"]),
        (#"\#(filters), "fields": {"name": {"read": {"name": "a"}}}"#, ["its read is not true or false"]),
        (#"\#(filters), "additional_fields": {"write": {}}"#, ["its write is not true or false"]),
        (#"\#(filters), "fields": {"_id": {"read": true}}"#, ["it has permissions for _id"]),
    ]) func roles(_ role: String, _ problems: [String]) throws {
        let rules = #"{"roles": [{"name": "all", "apply_when": {}, \#(role)}], "filters": []}"#
        for file in ["shop/Pet/rules.json", "default_rule.json"] {
            let app = try app(fields: #""name", "tags""#, ["data_sources/main/\(file)": rules])
            let found = try app.findings(.roleNotSyncable)
            #expect(found.count == problems.count)
            for (finding, problem) in zip(found, problems) {
                #expect(
                    finding.contains(
                        "warning role-not-syncable: under Sync the role \"all\" gives no access: \(problem)"))
            }
        }
    }

    /// Early exports of apps with Flexible Sync have the roles in the sync configuration.
    ///
    /// If the sync configuration has roles, lint does not check the roles of collections.
    @Test func rolesNextToOlderOnesAreNotChanged() throws {
        let rules = #"{"roles": [{"name": "all", "apply_when": {}}]}"#
        for (permissions, count) in [
            (#"{"rules": {}, "defaultRoles": []}"#, 1), (#"{"rules": {}, "defaultRoles": [{"name": "old"}]}"#, 0),
            (#"{"rules": {"Pet": [{"name": "old"}]}, "defaultRoles": []}"#, 0),
        ] {
            let app = try app(
                fields: #""name""#, more: #", "permissions": \#(permissions)"#,
                ["data_sources/main/shop/Pet/rules.json": rules])
            #expect(try app.findings(.roleNotSyncable).count == count)
        }
    }

    /// Sync ignores the roles of collections that do not sync, so lint skips them.
    @Test func otherRolesAreNotChanged() throws {
        let rules = #"{"roles": [{"name": "all", "apply_when": {}}]}"#
        let app = try app(fields: #""name""#, ["data_sources/main/shop/Bare/rules.json": rules])
        #expect(try app.codes() == [])
    }
}
