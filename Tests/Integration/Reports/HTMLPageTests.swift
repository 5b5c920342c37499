import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// An HTML report is a page that a browser shows without errors, network requests or scripts.
@Suite struct HTMLPageTests {
    @Test func aFailingCheckSaysWhatItFound() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("person", count: 40) { number in
                number % 4 == 0 ? ["_id": .integer(number)] : ["_id": .integer(number), "name": "Ada"]
            }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let run = try await Program.run(
                try folder.check(database, on: Mongod.shared) + ["--report", "report.html"], in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            let page = try await Browser.open(folder.path.appending("report.html"), in: folder)
            #expect(page.complaints == [])
            for text in [
                "10 documents would stop syncing.", "documents unsafe", "limit safe", "change unknown",
                "\(database.name).person", "required-missing",
                #"find({ "$expr": { "$eq": [{ "$type": "$name" }, "missing"] } })"#,
                "limit 100,000", "shipshape check", "Documents with findings, by collection", "Findings, by rule",
            ] { #expect(page.text.contains(text), "\(text) in \(page.text)") }
            // A screen reader needs the page's language, its main part, and a label for each picture that is not hidden
            // from it.
            #expect(page.document.contains("<main>") && page.document.contains(#"<html lang="en">"#))
            let pictures = page.document.matches(of: /<svg [^>]*>/).map { String($0.output) }
            #expect(
                pictures.allSatisfy {
                    $0.contains("aria-label=") || page.document.contains($0) && isHidden($0, in: page.document)
                })
            #expect(!page.document.contains("<script"))
        }
    }

    /// Whether a picture is hidden from screen readers, which read the same numbers in the text next to it.
    private func isHidden(_ picture: String, in document: String) -> Bool {
        if picture.contains("aria-hidden") { return true }
        let before = document.components(separatedBy: picture).dropLast()
        return before.allSatisfy { $0.hasSuffix(#"<td class="bar" aria-hidden="true">"#) }
    }

    @Test func aBackfillShowsItsStepsAndWhatItSkipped() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "prices", (0..<20).map { ["_id": .integer($0), "price": $0 < 3 ? "7x" : "7"] })
            try test.job(on: "prices", steps: ["convert: {field: price, to: double}"])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let report = folder.path.appending("run.html")
            let run = try await test.backfill("job", "--report", report.string)
            #expect(run.exitCode == 1, "\(run.errors)")
            let page = try await Browser.open(report, in: folder)
            #expect(page.complaints == [])
            for text in ["shipshape backfill", "changed 17", "convert", "not convertible without loss"] {
                #expect(page.text.contains(text), "\(text) in \(page.text)")
            }
        }
    }

    /// A name from a schema or a document is shown as text, so that HTML in the name has no effect.
    @Test func namesDoNothingInThePage() async throws {
        let name = #"</title><script>console.error('ran')</script><img src=x onerror=console.error(1)>"#
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let quoted = name.replacing("\"", with: "\\\"")
        try folder.write(
            #"{"title": "P", "properties": {"_id": {"bsonType": "int"}, "\#(quoted)": {"bsonType": "int"}}}"#,
            to: "v1/a.b.json")
        try folder.write(#"{"title": "P", "properties": {"_id": {"bsonType": "int"}}}"#, to: "v2/a.b.json")
        let run = try await Program.run(["diff", "v1", "v2", "--report", "diff.html"], in: folder.path)
        #expect(run.exitCode == 1, "\(run.errors)")
        let page = try await Browser.open(folder.path.appending("diff.html"), in: folder)
        #expect(page.complaints == [])
        #expect(!page.document.contains("<script") && !page.document.contains("<img"))
        #expect(page.text.contains(#"<img src=x onerror=console.error(1)>"#))
    }
}
