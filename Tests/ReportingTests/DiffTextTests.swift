import Reporting
import SchemaChange
import ServerSchema
import Testing

@Suite struct DiffTextTests {
    @Test func breakingFirstThenHintsThenWhatToDo() throws {
        let text = DiffText(try DiffFixture.report()).text
        #expect(
            text.hasPrefix(
                """
                Breaking: 2 of 4 changes from v1 to v2. Sync must be terminated and re-enabled, and every client resets.

                app.Person
                  server    client    change                             rule
                  breaking  breaking  n: string → int                    property-type-changed
                  breaking  additive  age is removed                     property-removed
                  additive  additive  years is added as an optional int  optional-added
                  additive  additive  z is added as a required date      required-added

                Possible renames; if one is a rename, add its flag:
                  --rename app.Person.age=years
                    age: the only int removed there, and years is the only one added

                What to do
                  property-type-changed: app.Person n
                    Terminate sync, convert the documents,
                """), "\(text)")
        #expect(text.contains(#"(App Services: Update Your Schema, "Remove an optional property")"#))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func countsAreShownNextToTheChanges() throws {
        let text = DiffText(try DiffFixture.report(weighed: true)).text
        #expect(
            text.hasPrefix("Breaking: 2 of 4 changes from v1 to v2, with the documents of mongodb://host/ counted."))
        for line in [
            "property-removed       0 of 4,100,000 documents hold this field",
            "property-type-changed  12 of 4,100,000 documents hold this field (string 9, null 2)",
            "optional-added         0 of 4,100,000 documents hold a field of that name",
            "required-added         1 of 4,100,000 documents lacks it or holds null",
        ] { #expect(text.contains(line + "\n"), "\(text)") }
    }

    @Test func aNarrowTerminalGetsShorterLines() throws {
        let text = DiffText(try DiffFixture.report(weighed: true), isColored: false, width: 60).text
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 82 })
        #expect(
            text.contains(
                """
                  breaking  additive  age is removed
                                      property-removed
                                      0 of 4,100,000 documents hold this field
                """))
    }

    @Test func coloursWhereTheyAreWanted() throws {
        let text = DiffText(try DiffFixture.report(), isColored: true).text
        #expect(text.hasPrefix("\u{1B}["))
        #expect(text.contains("m\u{1B}[0m") == false && text.contains("breaking\u{1B}[0m"))
    }

    @Test func noChangeIsSaid() {
        let report = DiffReport(old: "a", new: "b", dialect: .appServices, changes: [])
        #expect(DiffText(report).text == "Nothing changed from a to b.\n")
        #expect(!report.hasFailed)
    }
}
