import SchemaChange
import Testing

@Suite struct NestingTests {
    private let old = embedded("A", #""a": \#(string), "b": \#(int)"#, required: #""a""#)
    private let new = embedded("A", #""b": \#(string), "c": \#(int)"#, required: #""b", "c""#)

    private func expected(below path: String) -> [String] {
        [
            "property-removed \(path).a: breaking non-breaking, \(path).a is removed",
            "property-type-changed \(path).b: breaking breaking, \(path).b: int → string",
            "optional-to-required \(path).b: breaking breaking, \(path).b becomes required",
            "required-added \(path).c: non-breaking non-breaking, \(path).c is added as a required int",
        ]
    }

    @Test func embeddedObjects() throws { #expect(try changes(x(old), x(new)) == expected(below: "x")) }

    @Test func elements() throws {
        #expect(try changes(x(list(old)), x(list(new))) == expected(below: "x[]"))
        #expect(try changes(x(set(old)), x(set(new))) == expected(below: "x[]"))
    }

    @Test func dictionaryValues() throws {
        #expect(try changes(x(dictionary(old)), x(dictionary(new))) == expected(below: "x{}"))
    }

    @Test func deepBelowEachOther() throws {
        func deep(_ node: String) -> String { x(list(embedded("L", #""m": \#(dictionary(list(node)))"#))) }
        #expect(try changes(deep(old), deep(new)) == expected(below: "x[].m{}[]"))
    }

    @Test func anIDInsideIsAPropertyLikeAnyOther() throws {
        #expect(
            try changes(x(embedded("A", #""_id": \#(int)"#)), x(embedded("A", #""_id": \#(string)"#))) == [
                "property-type-changed x._id: breaking breaking, x._id: int → string"
            ])
    }

    @Test func aListThatBecomesASetIsStillCompared() throws {
        #expect(
            try changes(x(list(int)), x(set(string))) == [
                "list-set-changed x: breaking breaking, x: list of int → set of string",
                "element-type-changed x[]: breaking breaking, x[]: int → string",
            ])
        #expect(
            try changes(x(list(list(int))), x(list(set(int)))) == [
                "list-set-changed x[]: breaking breaking, x[]: list of int → set of int"
            ])
    }

    @Test func anotherKindOfElementIsAnotherType() throws {
        #expect(
            try changes(x(list(string)), x(list(old))) == [
                "element-type-changed x[]: breaking breaking, x[]: string → embedded A"
            ])
        #expect(
            try changes(x(dictionary(string)), x(dictionary(list(string)))) == [
                "element-type-changed x{}: breaking breaking, x{}: string → list of string"
            ])
    }

    @Test func positionsAreComparedOneByOne() throws {
        #expect(
            try changes(x(list("[\(int), \(string)]")), x(list("[\(int), \(double)]"))) == [
                "element-type-changed x[]: breaking breaking, x[]: string → double"
            ])
        #expect(
            try changes(x(list("[\(int)]")), x(list("[\(int), \(double)]"))) == [
                "element-type-changed x[]: breaking breaking, x[]: [int] → [int, double]"
            ])
        #expect(
            try changes(x(list(int)), x(#"{"bsonType": "array"}"#)) == [
                "element-type-changed x[]: breaking breaking, x[]: int → any value"
            ])
    }

    @Test func severalTypesOrNoneAreComparedToo() throws {
        func nullable(_ node: String) -> String {
            node.replacing(#""bsonType": "object""#, with: #""bsonType": ["object", "null"]"#)
        }
        #expect(try changes(x(nullable(old)), x(nullable(new))) == expected(below: "x"))
        #expect(
            try changes(x(nullable(dictionary(old))), x(nullable(dictionary(new)))) == expected(below: "x{}"))
        #expect(
            try changes(x(#"{"items": \#(int)}"#), x(#"{"items": \#(string)}"#)) == [
                "element-type-changed x[]: breaking breaking, x[]: int → string"
            ])
    }

    @Test func namesThatReadAsStepsAreQuoted() throws {
        #expect(
            try changes(type(""), type(#""a.b": \#(int)"#)) == [
                #"optional-added "a.b": non-breaking non-breaking, "a.b" is added as an optional int"#
            ])
    }
}
