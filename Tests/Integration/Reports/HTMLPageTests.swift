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
                #"find({ "name": { "$exists": false } })"#,
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

    /// A narrow page shows one chart after the other, and a row with only one figure has the page's full width.
    ///
    /// The smallest width is 500 pixels, because the browser's windows cannot be narrower.
    @Test(arguments: [500, 800, 1_000, 1_440]) func chartsAndFiguresHaveRoom(_ width: Int) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let old = CommandLineFolder.person.replacing("[\"_id\", \"name\"]", with: "[\"_id\"]")
        for name in ["person", "veterinarian"] {
            try folder.write(old, to: "v1/app.\(name).json")
            try folder.write(CommandLineFolder.person, to: "v2/app.\(name).json")
            let documents: [BSONDocument] = [["_id": 1], ["_id": 2, "age": "old"], ["_id": 3, "name": "Ada"]]
            try folder.write(documents.flatMap(\.bytes), to: "dump/app/\(name).bson")
        }
        let run = try await Program.run(
            ["check", "v2", "--active", "v1", "--source", "dump", "--report", "report.html"], in: folder.path)
        #expect(run.exitCode == 1, "\(run.errors)")
        let script = """
            (() => {
              const all = (selector) => [...document.querySelectorAll(selector)];
              const hidden = all('.chart').filter((chart) => chart.scrollWidth > chart.parentElement.clientWidth);
              const bars = all('.chart tbody .bar').map((bar) => bar.clientWidth);
              const rows = Object.groupBy(all('.facts div'), (cell) => cell.offsetTop);
              const single = Object.values(rows).filter((row) => row.length === 1)
                .filter(([cell]) => cell.clientWidth < cell.parentElement.clientWidth - 2);
              const wide = document.documentElement.scrollWidth > innerWidth;
              return [hidden.length, Math.min(...bars) >= 40, single.length, wide].join();
            })()
            """
        let report = folder.path.appending("report.html")
        #expect(try await Browser.evaluate(script, on: report, width: width, in: folder) == "0,true,0,false")
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
            for text in ["shipshape backfill", "changed 17", "convert", "not a number, date or id"] {
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
