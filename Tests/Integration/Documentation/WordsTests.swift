import Foundation
import SystemPackage
import Testing

/// Tests that the program's texts, the pages and the comments use the words of the glossary.
@Suite struct WordsTests {
    /// Returns the words that the glossary says to avoid, each with the word to use instead.
    private static func table() throws -> [(not: String, say: String)] {
        let glossary = try String(contentsOfFile: Repository.path("docs/glossary.md").string, encoding: .utf8)
        let section = try #require(glossary.components(separatedBy: "\n## ").first { $0.hasPrefix("Say, and not") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }.dropFirst()
        return rows.flatMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[1].components(separatedBy: ", ").map { ($0, cells[0]) }
        }
    }

    /// Returns a message for each word to avoid that a text contains; empty if it contains none.
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

    /// Words that comments and pages avoid in addition to those of the glossary.
    ///
    /// Texts that the program shows may use these words, because there they have another meaning.
    private static let further = [
        ("anew", "again"), ("once more", "again"), ("nobody", "no client"), ("somebody", "another client"),
        ("harm", "unsafe"), ("harms", "makes unsyncable"), ("harmed", "made unsyncable"), ("harmful", "unsafe"),
        ("goes on", "continues"), ("told", "reported"), ("tells", "shows"), ("mend", "fix"), ("mended", "fixed"),
    ].map { (not: $0, say: $1) }

    /// Words that the glossary says to avoid, but that comments may use, because there they have an ordinary meaning.
    private static let ofCode: Set = ["lend", "lends", "lent", "walk", "walks", "aside"]

    /// Returns a text without the code between backticks, and without single words between quotation marks.
    ///
    /// Both may be names that contain a word which the glossary says to avoid.
    private static func withoutNames(_ text: String) -> String { text.replacing(/`[^`\n]*`|"[\w.]+"/, with: "") }

    private static let pages =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + files(below: "docs", ["md"]) + files(below: "jobs", ["md"])

    @Test func noPageSaysAnotherWord() throws {
        let table = try Self.table() + Self.further
        for page in Self.pages where page != "docs/glossary.md" {
            let text = try String(contentsOfFile: Repository.path(page).string, encoding: .utf8)
            #expect(Self.slips(in: Self.withoutNames(text), of: table) == [], "\(page)")
        }
    }

    /// Finds lines of more than 120 columns, except in tables and in fenced code blocks.
    @Test func noLineOfAPageIsLongerThan120Columns() throws {
        for page in Self.pages + ["CHANGELOG.md"] {
            let text = try String(contentsOfFile: Repository.path(page).string, encoding: .utf8)
            var isFenced = false
            for line in text.split(separator: "\n") {
                if line.hasPrefix("```") { isFenced.toggle() }
                #expect(isFenced || line.hasPrefix("|") || line.count <= 120, "\(page): \(line)")
            }
        }
    }

    /// The files that have comments or descriptions but are neither Swift files nor in ``pages``, such as JSON Schemas,
    /// job files, systemd units, scripts and the programs of the benchmarks.
    private static let otherFiles =
        files(below: "docs/reference", ["json"])
        + files(below: "jobs", ["", "json", "yml", "yaml", "conf", "service", "timer"])
        + files(below: "scripts", ["", "py", "c", "yml"]).filter { !$0.hasPrefix("scripts/licences/") }
        + files(below: "Benchmarks", ["py", "c"]) + files(below: ".ci", [""])
        + files(below: ".github", ["yml"]) + ["Dockerfile"]

    /// Returns the texts for readers in one of ``otherFiles``: the titles and descriptions of a JSON Schema, or the
    /// comment lines and docstrings of any other file.
    private static func prose(of file: String) -> [String] {
        guard let text = try? String(contentsOfFile: Repository.path(file).string, encoding: .utf8) else { return [] }
        if file.hasSuffix(".json") {
            return text.matches(of: /"(?:title|description)": "(?<text>(?:[^"\\]|\\.)*)"/).map { String($0.text) }
        }
        let isC = file.hasSuffix(".c")
        var isDocstring = false
        return text.split(separator: "\n").map(String.init).filter { line in
            let start = line.drop { $0 == " " }
            if isC { return ["//", "/*", "* "].contains { start.hasPrefix($0) } }
            let marks = line.ranges(of: "\"\"\"").count
            defer { if !marks.isMultiple(of: 2) { isDocstring.toggle() } }
            return isDocstring || marks > 0 || start.hasPrefix("#") && !start.hasPrefix("#!")
        }
    }

    @Test func noCommentOfAnotherFileSaysAnotherWord() throws {
        let table = try Self.table().filter { !Self.ofCode.contains($0.not) } + Self.further
        #expect(Self.otherFiles.count > 80)
        for file in Self.otherFiles {
            let prose = Self.prose(of: file)
            let text = Self.withoutNames(prose.joined(separator: "\n"))
            #expect(Self.slips(in: text, of: table) == [], "\(file)")
            #expect(file.hasSuffix(".json") || prose.allSatisfy { $0.count <= 120 }, "\(file)")
        }
    }

    @Test func commentsOfOtherFilesAreFound() {
        #expect(Self.prose(of: "scripts/lib/soak/wire.py").contains { $0.contains("The server refused a command.") })
        #expect(Self.prose(of: "jobs/job.schema.json").contains("A job of shipshape"))
        #expect(Self.prose(of: "jobs/nightly").contains { $0.hasPrefix("# The nightly check") })
    }

    /// Returns the comments in all Swift files of the project.
    ///
    /// Consecutive lines of comments are one comment.
    private static func comments() throws -> [(file: String, comment: String, isDocumentation: Bool)] {
        try ["Sources", "Tests", "Benchmarks"].flatMap { files(below: $0, ["swift"]) }.flatMap { file in
            let source = try String(contentsOfFile: Repository.path(file).string, encoding: .utf8)
            var comments: [(file: String, comment: String, isDocumentation: Bool)] = []
            var isFollowing = false
            for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
                let text = line.drop { $0 == " " }
                guard text.hasPrefix("//") else {
                    isFollowing = false
                    continue
                }
                let comment = text.drop { $0 == "/" }.drop { $0 == " " }
                if isFollowing, let last = comments.indices.last {
                    comments[last].comment += "\n" + comment
                } else {
                    comments.append((file, String(comment), text.hasPrefix("///")))
                }
                isFollowing = true
            }
            return comments
        }
    }

    @Test func noCommentSaysAnotherWord() throws {
        let table = try Self.table().filter { !Self.ofCode.contains($0.not) } + Self.further
        for (file, comment, _) in try Self.comments() {
            let plain = comment.replacing(/`+[^`\n]*`+|"[^"\n]*"/, with: "")
            #expect(Self.slips(in: plain, of: table) == [], "\(file): \(comment)")
        }
    }

    /// Checks that at most 15 of 1,000 documentation comments begin with one of the words listed here.
    ///
    /// A comment that begins with such a word has no subject.
    @Test func documentationBeginsWithItsSubject() throws {
        let riddles: Set<Substring> = ["What", "Those", "Its", "Of", "By", "Who", "So", "Whose"]
        let documentation = try Self.comments().filter(\.isDocumentation)
        let begun = documentation.filter { riddles.contains($0.comment.prefix { $0.isLetter }) }
        #expect(documentation.count > 5_000)
        let share = Double(begun.count) / Double(documentation.count)
        #expect(share <= 0.015, "\(begun.map { "\($0.file): \($0.comment)" }.joined(separator: "\n"))")
    }

    /// Finds lines of more than 120 columns.
    ///
    /// Lines with JSON in a literal or with an HTML template may be longer.
    @Test func noLineOfCodeIsLongerThan120Columns() throws {
        let files = ["Sources", "Tests", "Benchmarks"].flatMap { Self.files(below: $0, ["swift"]) } + ["Package.swift"]
        for file in files where !file.contains("Fixtures") {
            let source = try String(contentsOfFile: Repository.path(file).string, encoding: .utf8)
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            let long = lines.filter { $0.count > 120 && !$0.contains(/\#"|": \{|\{\{|<\w/) }
            #expect(long == [], "\(file)")
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
