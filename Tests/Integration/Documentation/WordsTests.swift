import Foundation
import SystemPackage
import Testing

/// One word for one idea: the program's texts and the pages keep to the table of the glossary.
@Suite struct WordsTests {
    /// Returns the words to avoid, each with the word to use instead.
    private static func table() throws -> [(not: String, say: String)] {
        let glossary = try String(contentsOfFile: Repository.path("docs/glossary.md").string, encoding: .utf8)
        let section = try #require(glossary.components(separatedBy: "\n## ").first { $0.hasPrefix("Say, and not") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }.dropFirst()
        return rows.flatMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[1].components(separatedBy: ", ").map { ($0, cells[0]) }
        }
    }

    /// Returns a message for each word to avoid that a text contains.
    private static func slips(in text: String, of table: [(not: String, say: String)]) -> [String] {
        let letters = text.lowercased().map { $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : " " }
        let plain = " \(String(letters).split(separator: " ").joined(separator: " ")) "
        return table.filter { plain.contains(" \($0.not) ") }.map { "say \"\($0.say)\", not \"\($0.not)\"" }
    }

    private static func files(below folder: String, _ endings: Set<String>) -> [String] {
        let all = FileManager.default.enumerator(atPath: Repository.path(folder).string)?.allObjects ?? []
        return all.compactMap { $0 as? String }.filter { endings.contains(($0 as NSString).pathExtension) }
            .map { "\(folder)/\($0)" }.sorted()
    }

    @Test func theTableIsRead() throws {
        let table = try Self.table()
        #expect(table.contains { $0 == ("left alone", "skipped") })
        #expect(Self.slips(in: "It was Left\n   alone.", of: table) == [#"say "skipped", not "left alone""#])
        #expect(Self.slips(in: "the key left_alone", of: table).isEmpty)
    }

    @Test func noTextOfTheProgramSaysAnotherWord() throws {
        let table = try Self.table()
        var count = 0
        for file in Self.files(below: "Sources", ["swift"]) {
            let source = try String(contentsOfFile: Repository.path(file).string, encoding: .utf8)
            for text in SwiftTexts(source).all where text.contains(" ") {
                count += 1
                #expect(Self.slips(in: text, of: table) == [], "\(file): \(text)")
            }
        }
        #expect(count > 1_000)
    }

    @Test func noPageSaysAnotherWord() throws {
        let table = try Self.table()
        let pages =
            ["README.md", "CONTRIBUTING.md"] + Self.files(below: "docs", ["md"])
            + Self.files(below: "jobs", ["md", "json", "yml"])
        for page in pages where page != "docs/glossary.md" {
            // A single word between backticks or quotation marks may be the name of an old key.
            let text = try String(contentsOfFile: Repository.path(page).string, encoding: .utf8)
                .replacing(/`[^`\n]*`|"[\w.]+"/, with: "")
            #expect(Self.slips(in: text, of: table) == [], "\(page)")
        }
    }

    @Test func literalsAreReadAsTheyAreShown() {
        let source = ##"""
            // "no literal"
            let a = "one \(two("in\(side)", 3)) three" + "four"
            let b = #"raw \(no) \#(yes) "quoted""#, c = """
                lines \
                joined
                """ /* "nor this" */
            """##
        let texts = SwiftTexts(source).all.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        #expect(texts == ["one … threefour", "in…", #"raw \(no) … "quoted""#, "lines joined"])
    }
}
