import BSON
import Importing
import ServerSchema
import Testing

/// Tests that a `$ref` is replaced by the schema that it refers to, and which of several schemas in a file is imported.
@Suite struct ReferenceTests {
    @Test(arguments: [
        ("#/$defs/s", ##""$defs": {"s": {"type": "string"}}"##),
        ("#/definitions/s", ##""definitions": {"s": {"type": "string"}}"##),
        ("#/$defs/a~1b~0c%20d", ##""$defs": {"a/b~c d": {"type": "string"}}"##),
        ("#/$defs/s/anyOf/1", ##""$defs": {"s": {"anyOf": [{}, {"type": "string"}]}}"##),
        ("#s", ##""$defs": {"t": {"$anchor": "s", "type": "string"}}"##),
        ("https://x.org/t#s", ##""$defs": {"t": {"$dynamicAnchor": "s", "type": "string"}}"##),
        ("#s", ##""$defs": {"t": {"$id": "#s", "type": "string"}}"##),
        ("S", ##""$defs": {"t": {"$id": "S", "type": "string"}}"##),
        (
            "t.json",
            ##""$id": "https://x.org/all.json", "$defs": {"t": {"$id": "https://x.org/t.json", "type": "string"}}"##
        ),
        ("all.json#/$defs/t", ##""$id": "https://x.org/all.json", "$defs": {"t": {"type": "string"}}"##),
        ("#/properties/y", ##""$defs": {}"##),
        ("#/$defs/r", ##""$defs": {"r": {"$ref": "#/$defs/s"}, "s": {"type": "string"}}"##),
    ]) func aReferenceIsReplacedByItsSchema(_ reference: String, _ definitions: String) throws {
        let schema = ##"{"properties": {"y": {"type": "string"}, "x": {"$ref": "\##(reference)"}}, \##(definitions)}"##
        #expect(try imported(schema).root["properties"]?.document?["x"] == bson(#"{"bsonType": "string"}"#))
    }

    @Test func pointersBeginAtTheNearestIdentifier() throws {
        let schema = ##"""
            {"properties": {"x": {"$id": "inner", "$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}}},
             "$defs": {"s": {"type": "boolean"}}}
            """##
        #expect(try imported(schema).root["properties"]?.document?["x"] == bson(#"{"bsonType": "string"}"#))
    }

    @Test func keywordsNextToAReferenceApplySince2019() throws {
        let schema =
            ##"{"properties": {"x": {"$ref": "#/$defs/s", "maxLength": 9, "title": "X"}}, "$defs": {"s": {"type": "string", "title": "S"}}"##
        #expect(
            try imported(schema + "}").root["properties"]?.document?["x"]
                == bson(#"{"title": "X", "bsonType": "string", "maxLength": 9}"#))
        let old = try imported(schema + ##", "$schema": "http://json-schema.org/draft-07/schema#"}"##)
        #expect(try old.root["properties"]?.document?["x"] == bson(#"{"title": "S", "bsonType": "string"}"#))
        #expect(
            old.notes.map(\.message) == [
                "maxLength is left out: next to $ref it has no effect in this version of JSON Schema"
            ])
    }

    @Test func aFileMayBeAReferenceToOneOfItsSchemas() throws {
        let schema = try imported(
            ##"{"$ref": "#/definitions/User", "definitions": {"User": {"required": ["a"]}, "B": {}}, "##
                + ##""$schema": "http://json-schema.org/draft-07/schema#"}"##)
        #expect(schema.root == ["required": ["a"]])
        #expect(schema.notes.isEmpty)
    }

    @Test func aRecursiveReferenceEndsInAnySchemaWithAWarning() throws {
        let node =
            ##"{"$defs": {"N": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/N"}, "all": {"items": {"$ref": "#"}}}}}, "$ref": "#/$defs/N"}"##
        let schema = try imported(node)
        #expect(
            try .object(schema.root)
                == bson(
                    #"{"bsonType": "object", "properties": {"v": {"bsonType": ["int", "long"]}, "next": {}, "all": {}}}"#
                ))
        let warnings = schema.notes.filter { $0.kind == .warning }
        #expect(warnings.map { "\($0.path)" } == ["next", "all[]"])
        #expect(warnings[0].message.hasPrefix("the reference #/$defs/N leads back to a schema around it"))
        #expect("\(warnings[0].location)" == "schema.json:1:94")
    }

    @Test func aReferenceThatGrowsWithoutEndIsRefused() {
        let levels = (0..<20).map {
            ##""l\##($0)": {"properties": {"a": {"$ref": "#/$defs/l\##($0 + 1)"}, "b": {"$ref": "#/$defs/l\##($0 + 1)"}}}"##
        }
        let schema = ##"{"$ref": "#/$defs/l0", "$defs": {\##(levels.joined(separator: ", ")), "l20": {}}}"##
        #expect(refusal(schema)?.contains("more than 20,000 parts (import a smaller schema of the file)") == true)
    }

    @Test func aLongChainOfReferencesIsRefused() {
        for keyword in ["\"$ref\"", "\"unevaluatedProperties\": false, \"$ref\""] {
            let links = (0..<5_000).map { ##""l\##($0)": {\##(keyword): "#/$defs/l\##($0 + 1)"}"## }
            let schema = ##"{"$ref": "#/$defs/l0", "$defs": {\##(links.joined(separator: ", ")), "l5000": {}}}"##
            #expect(refusal(schema)?.contains("nested deeper than MongoDB accepts") == true)
        }
    }

    @Test func aReferenceToNothingIsRefused() {
        #expect(
            refusal(##"{"properties": {"x": {"$ref": "#/$defs/User"}}, "$defs": {"Usr": {}}}"##)
                == ##"schema.json:1:31: the reference "#/$defs/User" leads to nothing (did you mean "#/$defs/Usr"?)"##)
        #expect(
            refusal(##"{"properties": {"x": {"$ref": "other.json#/a"}}}"##)
                == ##"schema.json:1:31: the reference "other.json#/a" leads out of this file (bundle the schemas "##
                + "into one file first)")
        #expect(refusal(##"{"$ref": 1}"##) == "schema.json:1:10: $ref must be a string, not a number")
    }

    @Test func theUserChoosesAmongSeveralSchemas() throws {
        let several = ##"{"$defs": {"User": {"type": "object", "title": "U"}, "Order": {"type": "object"}}}"##
        #expect(refusal(several) == "schema.json:1:1: the file holds 2 schemas (choose one with --schema: User, Order)")
        #expect(try imported(several, schema: "User").name == "User")
        #expect(
            refusal(several, schema: "Usr")
                == "schema.json:1:1: there is no schema \"Usr\" here (did you mean \"User\"?)")
        #expect(try imported(##"{"definitions": {"User": {"type": "object"}}}"##).name == "User")
        #expect(try imported(##"{"title": "Root", "type": "object", "$defs": {"User": {}, "A": {}}}"##).name == "Root")
        #expect(refusal(##"{"openapi": "3.1.0", "paths": {}}"##)?.contains("the file holds no schema") == true)
        #expect(refusal("{}", schema: "A")?.contains("the schemas of this file have no names") == true)
    }

    @Test func anOpenAPIDocumentInYAMLIsReadWithPlaces() throws {
        let yaml = """
            openapi: 3.0.3
            info: {title: Pets, version: "1"}
            components:
              schemas:
                Pet:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    size: {type: string, enum: [no, 'yes', "1", 1, 1.5, true, ~]}
                    born: {type: string, format: date, nullable: true}
                    since: {type: integer, default: 2024}
            """
        let pet = try imported(yaml, named: "api.yaml")
        #expect(pet.name == "Pet")
        #expect(
            try pet.root["properties"]
                == bson(
                    """
                    {"name": {"bsonType": "string"},
                     "size": {"bsonType": "string", "enum": ["no", "yes", "1", 1, 1.5, true, null]},
                     "born": {"bsonType": ["date", "null"]}, "since": {"bsonType": ["int", "long"]}}
                    """))
        #expect(
            pet.notes.map { "\($0.location.line) \($0.code.rawValue)" } == [
                "11 format-type", "12 number-type", "12 annotation-left-out",
            ])
        #expect(refusal("a: [1\n", named: "api.yml")?.hasPrefix("api.yml:") == true)
        #expect(
            refusal("a: &x 1\nb: *x\n", named: "api.yml")?.hasPrefix("api.yml:2:4: aliases are not supported") == true)
    }
}
