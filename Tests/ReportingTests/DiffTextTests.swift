import Reporting
import SchemaChange
import ServerSchema
import Testing

@Suite struct DiffTextTests {
    private func text(_ report: DiffReport, width: Int? = nil, isColored: Bool = false) -> String {
        DiffResult(report).text(TextLayout(width: width, isColored: isColored))
    }

    @Test func breakingFirstThenHintsThenWhatToDo() throws {
        let text = text(try DiffFixture.report())
        #expect(
            text.hasPrefix(
                """
                Breaking: 2 of 4 changes from v1 to v2. Sync must be terminated and re-enabled, and every client resets.

                app.Person
                  server    clients   change                             rule
                  breaking  breaking  n: string → int                    property-type-changed
                  breaking  additive  age is removed                     property-removed
                  additive  additive  years is added as an optional int  optional-added
                  additive  additive  z is added as a required date      required-added

                Possible renames: A change counts as a rename only if you state it.
                  age is removed: did you rename it to years, the only int added there?
                    renames: ["app.Person.age=years"]

                What to do
                  property-type-changed: app.Person n
                    Terminate sync, convert the documents,
                """), "\(text)")
        let kept = DiffResult(try DiffFixture.report()).text(.file)
        #expect(kept.contains(#"    Source: App Services: Update Your Schema, "Remove an optional property"."#))
        #expect(!text.contains("Source: "), "a terminal leaves out the sources, which explain shows")
        #expect(!text.contains("\u{1B}"))
    }

    @Test func countsAreShownNextToTheChanges() throws {
        let text = text(try DiffFixture.report(weighed: true))
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
        let text = text(try DiffFixture.report(weighed: true), width: 60)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 })
        #expect(
            text.contains(
                """
                  breaking  additive  age is removed
                    rule: property-removed
                    documents: 0 of 4,100,000 documents hold this field
                """), "\(text)")
    }

    @Test func coloursWhereTheyAreWanted() throws {
        let text = text(try DiffFixture.report(), isColored: true)
        #expect(text.hasPrefix("\u{1B}["))
        #expect(text.contains("m\u{1B}[0m") == false && text.contains("breaking\u{1B}[0m"))
    }

    @Test func noChangeIsSaid() {
        let report = DiffReport(old: "a", new: "b", dialect: .appServices, changes: [])
        #expect(text(report) == "Nothing changed from a to b.\n")
        #expect(!report.hasFailed)
    }
}
