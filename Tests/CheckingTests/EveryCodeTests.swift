import Foundation
import Testing

/// Tests that every rule code has a test and a documentation entry, so that no code can be added without both.
@Suite struct EveryCodeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func texts(in folder: String, where isWanted: (String) -> Bool = { _ in true }) -> [String] {
        let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "swift" && isWanted($0.lastPathComponent) }
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
    }

    /// Returns the codes from the Swift files in `folder` whose names begin with `prefix`; each code has its name in
    /// Swift and its name in reports.
    private static func codes(in folder: String, files prefix: String) -> [(symbol: String, code: String)] {
        let pattern = /public static let (?<symbol>\w+)(: Self)? = (Self\(rawValue: )?"(?<code>[a-z-]+)"/
        return texts(in: folder) { $0.hasPrefix(prefix) }
            .flatMap { $0.matches(of: pattern).map { (String($0.symbol), String($0.code)) } }
    }

    /// The rules for documents, each with its name in Swift and its name in reports: the same words, with hyphens.
    private static let rules: [(symbol: String, code: String)] = {
        let text = texts(in: "Sources/Checking") { $0 == "Rule.swift" }.joined()
        let cases = text.components(separatedBy: "CaseIterable {\n").last?.components(separatedBy: "///").first ?? ""
        let names = cases.replacing(#/ = .*/#, with: "").matches(of: /[a-z]\w+/).map { String($0.output) }
        return names.filter { $0 != "case" }.map { name in
            let words = name.replacing(/([a-z])([A-Z])/) { "\($0.1)-\($0.2)" }
                .replacing(/([A-Z])([A-Z][a-z])/) { "\($0.1)-\($0.2)" }
            return (name, name == "mixedDBRef" ? "mixed-dbref" : words.lowercased())
        }
    }()

    @Test func rulesOfDocuments() {
        let codes = Self.rules
        #expect(codes.count > 55)
        let folders = ["Tests/CheckingTests", "Tests/Conformance", "Tests/Integration"]
        let tests = folders.flatMap { Self.texts(in: $0) }.joined()
        for (symbol, code) in codes {
            // A test names a code at the beginning of a finding's text, as a whole text, or by the Swift constant.
            let isNamed = tests.contains("\"\(code) ") || tests.contains(".\(symbol)") || tests.contains("\"\(code)\"")
            #expect(isNamed, "no test produces \(code)")
        }
    }

    @Test func rulesOfLint() {
        let codes = Self.codes(in: "Sources/ServerSchema/Lint", files: "LintFinding")
        #expect(codes.count > 55)
        let tests = Self.texts(in: "Tests/ServerSchemaTests/Lint").joined()
        for (symbol, code) in codes {
            // A test names a code in a finding's text, before the level, or by the Swift constant.
            let isNamed = ["error", "warning", "info"].contains { tests.contains("\(code) \($0)") }
            #expect(isNamed || tests.contains(".\(symbol)"), "no test produces \(code)")
        }
    }

    /// The page `docs/reference/rules.md` explains each code to operators.
    @Test func everyCodeHasAnEntryInTheReference() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/rules.md"), encoding: .utf8)
        let sections = page.components(separatedBy: "\n## ")
        func entries(of title: String) throws -> Set<String> {
            let section = try #require(sections.first { $0.hasPrefix(title) })
            return Set(section.matches(of: /(?m)^\| `([a-z-]+)/).map { String($0.1) })
        }
        func expect(_ codes: [String], in titles: String...) throws {
            let known = try titles.reduce(into: Set<String>()) { $0.formUnion(try entries(of: $1)) }
            #expect(Set(codes).subtracting(known) == [], "no entry below \(titles)")
            #expect(known.subtracting(codes).subtracting(["constraint-"]) == [], "nothing prints it")
        }
        try expect(
            Self.rules.map(\.code), in: "Documents", "MongoDB's own validators", "Prisma clients", "Sync engines")
        try expect(Self.codes(in: "Sources/ServerSchema/Lint", files: "LintFinding").map(\.code), in: "Schemas")
        try expect(Self.codes(in: "Sources/SchemaChange", files: "SchemaChange.").map(\.code), in: "Changes")
        let remarks = Self.texts(in: "Sources/Inferring") { $0 == "Suspicion.swift" }.joined()
            .matches(of: /case \w+ = "(?<code>[a-z-]+)"/).map { String($0.code) }
        try expect(remarks, in: "Remarks")
    }

    /// The page `docs/reference/exit-codes.md` explains the exit code 0 and each code that `ExitStatus` declares.
    @Test func everyExitCodeHasAnEntryInTheReference() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/exit-codes.md"), encoding: .utf8)
        let known = page.matches(of: /(?m)^\| (\d+) \|/).map { String($0.1) }
        let codes = Self.texts(in: "Sources/ShipshapeCLI") { $0 == "ExitStatus.swift" }.joined()
            .matches(of: /case \w+ = (\d+)/).map { String($0.1) }
        #expect(codes.count > 8 && ["0"] + codes == known)
    }

    /// The page `docs/reference/stability.md` promises the meaning of each exit code, and its `kind` in the JSON of
    /// errors.
    @Test func everyExitCodeIsPromised() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/stability.md"), encoding: .utf8)
        let promised = page.matches(of: /(?m)^\| (\d+) \| (?:`(\w+)` )?\|/).map { "\($0.1) \($0.2 ?? "")" }
        let source = Self.texts(in: "Sources/ShipshapeCLI") { $0 == "ExitStatus.swift" }.joined()
        let words = Dictionary(
            source.matches(of: /case \.(\w+): "(\w+)"/).map { ($0.1, $0.2) }, uniquingKeysWith: { first, _ in first })
        let codes = try source.matches(of: /case (\w+) = (\d+)/).map { "\($0.2) \(try #require(words[$0.1]))" }
        #expect(codes.count > 8 && ["0 "] + codes == promised)
    }

    /// The page `docs/reference/stability.md` promises the name of each metric.
    @Test func everyMetricIsPromised() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/stability.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("Metrics\n") })
        let cells = section.split(separator: "\n").compactMap { line in
            line.hasPrefix("| ") ? line.split(separator: " | ").last?.replacing(/\([^)]*\)/, with: "") : nil
        }
        let promised = cells.joined().matches(of: /`(\w+)`/).map { String($0.1) }
        let source = Self.texts(in: "Sources/Reporting").joined()
        let written =
            source.matches(of: /(?:Metric\(\s*|successName = )"(?<name>\w+)"/).map { String($0.name) }
            + source.matches(of: /\("(?<name>\w+)", \.(?:counter|gauge),/).map { "mirror_\($0.name)" }
        #expect(written.count > 25 && Set(promised) == Set(written))
    }

    /// Every section of `semantics.md` that a source file cites exists.
    @Test func everySectionThatASourceFileCitesExists() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/semantics.md"), encoding: .utf8)
        let headings = Set(page.matches(of: /(?m)^##+ (\d+(?:\.\d+)?)/).map { String($0.1) })
        var cited = 0
        for text in Self.texts(in: "Sources") {
            for match in text.matches(of: /`semantics\.md`,? sections? (\d+(?:\.\d+)?)(?: and (\d+(?:\.\d+)?))?/) {
                for section in [String(match.1), match.2.map(String.init)].compactMap(\.self) {
                    cited += 1
                    #expect(headings.contains(section.trimmingCharacters(in: ["."])))
                }
            }
        }
        #expect(cited > 25)
        let rules = try String(contentsOf: Self.root.appending(path: "docs/reference/rules.md"), encoding: .utf8)
        // Only these sections of `rules.md` cite `semantics.md`. The other sections cite the documentation of Prisma or
        // of an engine, or the program itself.
        let ofSync = ["Documents", "MongoDB's own validators", "Schemas", "Changes", "Remarks"]
        let sections = rules.split(separator: #/\n##+ /#).filter { part in
            ofSync.contains { part.hasPrefix("\($0)\n") }
        }
        for line in sections.joined(separator: "\n").split(separator: "\n") where line.hasPrefix("| `") {
            if line.contains("| MongoDB manual, *") { continue }
            let sources = line.split(separator: "|").last?.split(whereSeparator: { ", ".contains($0) }) ?? []
            #expect(
                !sources.isEmpty && sources.filter { $0 != "note" }.allSatisfy { headings.contains(String($0)) },
                "\(line)")
        }
    }

    /// Every test that the page `docs/safety.md` names as the proof of a promise exists.
    @Test func everyTestThatThePageOfPromisesNamesExists() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/safety.md"), encoding: .utf8)
        let tests = Set(Self.texts(in: "Tests").joined().matches(of: /func (\w+)\(/).map { String($0.1) })
        var named = 0
        for line in page.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| promise") {
            let cell = try #require(line.split(separator: "|").last)
            let names = cell.matches(of: /`(\w+)`/).map { String($0.1) }
            #expect(line.hasPrefix("| ---") || !names.isEmpty, "no test: \(line)")
            #expect(Set(names).subtracting(tests) == [])
            named += names.count
        }
        #expect(named > 60)
    }
}
