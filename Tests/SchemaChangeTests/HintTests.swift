import BSON
import SchemaChange
import ServerSchema
import Testing

@Suite struct HintTests {
    private func hints(_ old: ServerSchema, _ new: ServerSchema) throws -> [String] {
        let changes = SchemaDiff.changes(from: old, to: new)
        return try SchemaDiff.hints(in: changes).map { hint in
            // If the operator states the rename that a hint proposes, the diff no longer reports the removal and the
            // addition.
            let stated = try SchemaDiff.changes(from: old, to: new, renames: [try Rename(hint.rename)])
            #expect(!stated.contains(hint.removed) && !stated.contains(hint.added))
            return "\(hint.rename): \(hint.reason)"
        }
    }

    @Test func oneOfATypeGoesAndOneComes() throws {
        let old = type(#""age": \#(int), "n": \#(string), "x.y": \#(double)"#)
        let new = type(#""years": \#(int), "a": \#(list(string)), "z": \#(double)"#)
        #expect(
            try hints(app(old), app(new)) == [
                "app.Person.age=years: did you rename it to years, the only int added there?",
                #"app.Person."x.y"=z: did you rename it to z, the only double added there?"#,
            ])
    }

    @Test func severalCandidatesGiveNoHint() throws {
        let one = type(#""a": \#(int)"#)
        let two = type(#""b": \#(int), "c": \#(int)"#)
        #expect(try hints(app(one), app(two)) == [])
        #expect(try hints(app(two), app(one)) == [])
    }

    @Test func insideOfEmbeddedObjectsAndLists() throws {
        let old = x(list(embedded("A", #""zip": \#(string)"#)))
        let new = x(list(embedded("A", #""postcode": \#(string)"#)))
        #expect(
            try hints(app(old), app(new)) == [
                "app.Person.x[].zip=postcode: did you rename it to postcode, the only string added there?"
            ])
    }

    @Test func anotherPlaceIsNoCandidate() throws {
        let old = x(embedded("A", #""a": \#(string)"#))
        let new = type(#""x": \#(embedded("A", "")), "b": \#(string)"#)
        #expect(try hints(app(old), app(new)) == [])
    }

    @Test func collectionsWithTheSameTypeOrTheSameProperties() throws {
        let moved = Namespace(database: "crm", collection: "Human")
        #expect(
            try hints(app(x(int)), app(x(string), moved)) == ["app.Person=crm.Human: both have the type Person"])
        let renamed = type(#""x": \#(int)"#, title: "Human")
        #expect(
            try hints(app(x(int)), app(renamed, moved)) == [
                "app.Person=crm.Human: both have the same properties, and no other added collection has them"
            ])
        #expect(try hints(app(x(int)), app(type("", title: "Human"), moved)) == [])
    }
}
