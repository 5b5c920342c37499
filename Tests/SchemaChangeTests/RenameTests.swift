import BSON
import SchemaChange
import ServerSchema
import Testing

@Suite struct RenameTests {
    private static let crm = Namespace(database: "crm", collection: "Person")

    /// Returns the changes between two apps with these renames, each as `code path ← older path`.
    private func changes(_ old: ServerSchema, _ new: ServerSchema, _ renames: String...) throws -> [String] {
        try SchemaDiff.changes(from: old, to: new, renames: renames.map { try Rename($0) }).map { change in
            let from = change.old.map { " ← \($0.namespace.map { "\($0) " } ?? "")\($0.path)" } ?? ""
            return "\(change.code) \(change.path)\(from)"
        }
    }

    private func refusal(_ old: ServerSchema, _ new: ServerSchema, _ rename: String) -> String {
        do {
            return "\(try SchemaDiff.changes(from: old, to: new, renames: [try Rename(rename)]).map(\.row))"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: ["Person.a=b", "app.Person.a=b", #"Person."a"=b"#])
    func aPropertyByItsTypeOrItsCollection(_ rename: String) throws {
        #expect(
            try changes(app(type(#""a": \#(int)"#)), app(type(#""b": \#(int)"#)), rename)
                == ["property-renamed b ← app.Person a"])
    }

    @Test func aRenamedPropertyIsComparedFurther() throws {
        let old = app(type(#""a": \#(list(embedded("A", #""x": \#(int), "y": \#(int)"#)))"#))
        let new = app(type(#""b": \#(list(embedded("A", #""z": \#(string)"#)))"#, required: #""b""#))
        let inner = [
            "optional-to-required b ← app.Person a", "property-removed a[].y ← app.Person a[].y",
            "property-renamed b[].z ← app.Person a[].x", "property-type-changed b[].z ← app.Person a[].x",
        ]
        let all = ["property-renamed b ← app.Person a"] + inner
        #expect(try changes(old, new, "Person.a=b", "Person.a.x=z") == all)
        #expect(try changes(old, new, "Person.a[].x=z", "Person.a=b") == all)
        #expect(try changes(old, new, "A.x=z", "app.Person.a=b") == all)
    }

    @Test func namesMayBeSwapped() throws {
        let old = app(type(#""a": \#(int), "b": \#(string)"#))
        let new = app(type(#""a": \#(string), "b": \#(int)"#))
        #expect(
            try changes(old, new, "Person.a=b", "Person.b=a")
                == ["property-renamed a ← app.Person b", "property-renamed b ← app.Person a"])
    }

    @Test func aCollectionThatMoved() throws {
        let old = app(type(#""a": \#(int)"#))
        let new = app(type(#""b": \#(int)"#), Self.crm)
        #expect(
            try changes(old, new, "app.Person=crm.Person", "Person.a=b")
                == ["collection-moved (root) ← app.Person (root)", "property-renamed b ← app.Person a"])
        #expect(try changes(old, new).count == 2)
    }

    @Test func aTypeThatMovedWithItsTitle() throws {
        let old = app(type(#""a": \#(int)"#))
        let new = app(type(#""a": \#(int)"#, title: "Human"), Namespace(database: "app", collection: "Human"))
        #expect(
            try changes(old, new, "Person=Human")
                == ["collection-moved (root) ← app.Person (root)", "type-renamed (root) ← app.Person (root)"])
        #expect(
            try changes(old, app(type(#""a": \#(int)"#, title: "Human")), "Person=Human")
                == ["type-renamed (root) ← app.Person (root)"])
    }

    @Test func aRenameOfNothingIsRefusedWithAHint() {
        let old = app(type(#""age": \#(int), "keep": \#(int)"#))
        let new = app(type(#""years": \#(int), "keep": \#(int)"#))
        func says(_ rename: String, _ message: String) {
            #expect(refusal(old, new, rename) == "rename \"\(rename)\": \(message)")
        }
        says("Persn.age=years", #"the older schema has no such type or collection (did you mean "Person"?)"#)
        says("Person.agee=years", #"Person has no property "agee" in the older schema (did you mean "age"?)"#)
        says("Person.age=yeers", #"the newer schema has no property "yeers" there (did you mean "years"?)"#)
        says("Person=Humn", #"the newer schema has no type "Humn""#)
        says("Person.keep=years", #"the newer schema still has "keep": this is an addition, not a rename"#)
        says("Person.age=keep", #"the older schema also has "keep": it is not a new name"#)
        says("Person.age=a.b", "write only the property's new name on the right: a property stays in its object")
        says("app.Person=app.Persn", #"the newer schema has no collection app.Persn (did you mean "app.Person"?)"#)
        says("Person.age", "a rename is OLD=NEW, such as Person.age=yearsSinceBirth or app.Person=crm.Person")
    }

    /// A rename in several deploys: both fields first, then only the new one.
    @Test func renamesInAFileMayTakeSeveralDeploys() throws {
        let place = SourceLocation(file: "shipshape.yml", line: 2, column: 5)
        let rename = try Rename("app.Person.age=years", at: place)
        let (age, years) = (#""age": \#(int)"#, #""years": \#(int)"#)
        let (old, both, new) = (app(type(age)), app(type("\(age), \(years)")), app(type(years)))
        func changes(_ old: ServerSchema, _ new: ServerSchema) throws -> [SchemaChange] {
            try SchemaDiff.changes(from: old, to: new, renames: [rename])
        }
        #expect(try changes(old, old) == [])
        #expect(try changes(old, both).map(\.code) == [.optionalAdded])
        #expect(try changes(old, new).map(\.code) == [.propertyRenamed])
        let last = try changes(both, new)
        #expect(last.map(\.code) == [.propertyRemoved])
        let report = DiffReport(old: "v2", new: "v3", dialect: .appServices, changes: last, renames: [rename])
        #expect(report.moves.map { "\($0.old) \($0.new) \($0.isStated)" } == ["age years true"])
    }

    /// Each removed field has a move, but only the first ones have one for every field that could hold their values.
    @Test func theMovesOfManyFieldsHaveALimit() throws {
        func fields(_ name: String) -> ServerSchema {
            app(type((0..<500).map { "\"\(name)\($0)\": \(int)" }.joined(separator: ", ")))
        }
        let changes = SchemaDiff.changes(from: fields("a"), to: fields("b"))
        let moves = DiffReport(old: "v1", new: "v2", dialect: .appServices, changes: changes).moves
        #expect(Set(moves.map(\.old)).count == 500)
        #expect(moves.count == 50 * 20 + 450)
    }

    @Test func renamesInAFileMayBeOld() throws {
        let place = SourceLocation(file: "shipshape.yml", line: 2, column: 5)
        let done = app(type(#""years": \#(int)"#))
        #expect(
            try SchemaDiff.changes(from: done, to: done, renames: [try Rename("Person.age=years", at: place)]) == [])
        #expect(try SchemaDiff.changes(from: done, to: done, renames: [try Rename("Man=Person", at: place)]) == [])
        #expect(throws: RenameError.self) {
            try SchemaDiff.changes(from: done, to: done, renames: [try Rename("Person.age=years")])
        }
        let moved = app(type(#""years": \#(int)"#), Self.crm)
        #expect(
            try SchemaDiff.changes(from: moved, to: moved, renames: [try Rename("app.Person=crm.Person", at: place)])
                == [])
        #expect(throws: RenameError.self) {
            try SchemaDiff.changes(from: moved, to: moved, renames: [try Rename("app.Person=crm.Person")])
        }
    }

    @Test func aLinkToAMovedCollectionLeadsToTheSameType() throws {
        func schema(_ target: Namespace) -> ServerSchema {
            var schema = app(type(#""boss": \#(objectID)"#), target)
            schema.collections[0].relationships = [
                Relationship(
                    source: SchemaPath([.field("boss")]), target: target,
                    location: SourceLocation(whole: "relationships.json"))
            ]
            return schema
        }
        #expect(
            try changes(schema(people), schema(Self.crm), "app.Person=crm.Person")
                == ["collection-moved (root) ← app.Person (root)"])
    }
}

/// Reads a schema of one collection from JSON.
func app(_ text: String, _ namespace: Namespace = people) -> ServerSchema {
    // The texts come from the tests themselves, so they are valid.
    // swift-format-ignore: NeverUseForceTry
    ServerSchema(dialect: .appServices, collections: [try! schema(text, of: namespace)])
}
