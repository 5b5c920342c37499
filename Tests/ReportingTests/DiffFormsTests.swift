import BSON
import Foundation
import FoundationXML
import SchemaChange
import ServerSchema
import Testing

@testable import Reporting

@Suite struct DiffFormsTests {
    @Test func gitHubShowsEachChangeAtItsPlace() throws {
        let lines = GitHubAnnotations(DiffResult(try DiffFixture.report()).report).text.split(separator: "\n")
        #expect(
            lines[0].hasPrefix(
                "::error file=v2.json,line=2,col=49,title=property-type-changed n::app.Person: n: string → int "
                    + "(server: breaking, clients: breaking)%0A"))
        #expect(lines[0].contains("%0ASync must be terminated"))
        // A removed property is reported at the object that had it.
        #expect(lines[1].hasPrefix("::error file=v2.json,line=1,col=1,title=property-removed age::"))
        #expect(lines[1].contains("%0AIf it is a rename, add to shipshape.yml: renames: [\"app.Person.age=years\"]"))
        #expect(lines[2].hasPrefix("::notice file=v2.json,line=2,"))
        #expect(
            lines[4].hasPrefix(
                "::notice file=v2.json,line=2,col=79,title=looks like a rename::Possible renames: age is removed: "))
        let verdict =
            "Breaking: 2 of 4 changes from v1 to v2. Sync must be terminated and re-enabled, and every client resets."
        #expect(
            lines.last.map(String.init) == verdict
        )
    }

    @Test func gitHubLevelsFollowWhatFails() throws {
        var report = try DiffFixture.report()
        func levels() -> [Substring] {
            GitHubAnnotations(DiffResult(report).report).text.split(separator: "\n").prefix(4).map {
                $0.prefix { $0 != " " }
            }
        }
        #expect(levels() == ["::error", "::error", "::notice", "::notice"])
        report.failOn = .any
        #expect(levels() == ["::error", "::error", "::error", "::error"])
        report.failOn = .none
        #expect(levels() == ["::warning", "::warning", "::notice", "::notice"])
    }

    @Test func gitHubCommandsAreEscaped() {
        let place = SourceLocation(file: "a,b:c%\r\n.json", line: 3, column: 4)
        let annotations: [GitHubAnnotations.Annotation] = [
            .init(level: .warning, place: place, title: "t:,", message: "100%\r\nx: y, z"),
            .init(level: .notice, title: "t", message: "m"),
            .init(level: .error, place: SourceLocation(whole: "f"), title: "t", message: ""),
        ]
        #expect(
            GitHubAnnotations(annotations: annotations).text == """
                ::warning file=a%2Cb%3Ac%25%0D%0A.json,line=3,col=4,title=t%3A%2C::100%25%0D%0Ax: y, z
                ::notice title=t::m
                ::error file=f,title=t::

                """)
    }

    /// Parses XML, and collects its elements with their attributes and texts.
    private final class Elements: NSObject, XMLParserDelegate {
        private(set) var elements: [(name: String, attributes: [String: String], text: String)] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) { elements.append((name, attributes, "")) }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            if !elements.isEmpty { elements[elements.count - 1].text += text }
        }

        static func read(_ text: String) throws -> [(name: String, attributes: [String: String], text: String)] {
            let (reader, parser) = (Elements(), XMLParser(data: Data(text.utf8)))
            parser.delegate = reader
            try #require(parser.parse(), "\(String(describing: parser.parserError)) in \(text)")
            return reader.elements
        }
    }

    @Test func jUnitHasACaseForEachChangeAndHint() throws {
        var report = try DiffFixture.report(weighed: true)
        let elements = try Elements.read(JUnitReport(DiffResult(report).report).text)
        let suite = try #require(elements.first { $0.name == "testsuite" })
        #expect(suite.attributes["tests"] == "5" && suite.attributes["failures"] == "2")
        #expect(elements.count { $0.name == "testcase" } == 5)
        let failures = elements.filter { $0.name == "failure" }
        #expect(failures.map { $0.attributes["type"] } == ["property-type-changed", "property-removed"])
        #expect(failures[1].text.contains("0 of 4,100,000 documents hold this field."))
        let first = try #require(elements.first { $0.name == "testcase" })
        #expect(
            first.attributes == [
                "classname": "app.Person", "name": "property-type-changed n", "file": "v2.json", "line": "2",
            ])
        report.failOn = .none
        #expect(try Elements.read(JUnitReport(DiffResult(report).report).text).allSatisfy { $0.name != "failure" })
    }

    @Test func jUnitIsXMLWhateverTheNames() throws {
        let elements = try Elements.read(JUnitReport(DiffResult(try DiffFixture.nasty()).report).text)
        #expect(elements[0].attributes["name"] == "shipshape diff: Schema changes from <old> & 'v1' to v2\u{FFFD}")
        #expect(elements.first { $0.name == "testcase" }?.attributes["name"]?.contains(#"a|b<c>&"d%,:`e"#) == true)
        let odd = JUnitReport(
            name: "n",
            cases: [.init(group: "]]>", name: "a\u{1B}\nb\tc", failure: "f", message: "<&>\"'", details: "]]>")])
        let cases = try Elements.read(odd.text)
        #expect(cases[2].attributes["name"] == "a\u{FFFD}\nb\tc")
        #expect(cases[3].attributes["message"] == "<&>\"'")
        #expect(cases[3].text.trimmingCharacters(in: .whitespacesAndNewlines) == "<&>\"'\n]]>")
    }

    @Test func htmlIsOneFileWithoutMarkupFromNames() throws {
        let text = HTMLReport(DiffResult(try DiffFixture.nasty()).report).text
        #expect(text.contains("&lt;old&gt; &amp; &#39;v1&#39;") && text.contains("a|b&lt;c&gt;&amp;"))
        #expect(!text.contains("<c>") && !text.contains("://") && !text.contains("<script"))
        let full = HTMLReport(DiffResult(try DiffFixture.report(weighed: true)).report).text
        #expect(full.contains("<span>Breaking: 2 of 4 changes"))
        #expect(full.contains("<span>0 of 4,100,000 documents hold this field</span>"))
        #expect(full.contains("<code>renames: [&quot;app.Person.age=years&quot;]</code>"))
        // The body is well-formed XML, although the head is plain HTML.
        let body = full.split(separator: "<body>")[1].split(separator: "</body>")[0]
        _ = try Elements.read("<b>\(body)</b>")
    }

    @Test func markdownIsATableWhoseCellsHold() throws {
        let lines = MarkdownReport(DiffResult(try DiffFixture.report(weighed: true)).report).text.split(separator: "\n")
        #expect(lines[2] == "| collection | server | clients | change | rule | documents | what to do |")
        #expect(
            lines[4].hasPrefix(
                "| `app.Person` | 🔴 breaking | 🔴 breaking | n: string → int | property-type-changed | 12 of "
            ))
        let rows = MarkdownReport(DiffResult(try DiffFixture.nasty()).report).text.split(separator: "\n").filter {
            $0.hasPrefix("| `")
        }
        #expect(rows.count == 1)
        #expect(rows[0].contains(#"a\|b\<c\>\&"#))
    }

    /// If there are very many changes, the most severe are listed, and all are counted.
    @Test func theMostSevereChangesAreListed() throws {
        func schema(_ fields: Int, _ rest: String) throws -> ServerSchema {
            let properties = (0..<fields).map { "\"f\($0)\": {\"bsonType\": \"int\"}" }.joined(separator: ", ")
            return try ServerSchema.read(
                text: "{\"$jsonSchema\": {\"bsonType\": \"object\", \"properties\": {\(properties)}\(rest)}}",
                namespace: Namespace(database: "app", collection: "a"))
        }
        func result(_ fields: Int) throws -> DiffResult {
            let changes = SchemaDiff.changes(
                from: try schema(0, ""), to: try schema(fields, ", \"required\": [\"f\(fields - 1)\"]"))
            return DiffResult(DiffReport(old: "a", new: "b", dialect: .jsonSchema, changes: changes))
        }
        let words = "2 changes not listed: these are the 5,000 most severe"
        let many = try result(5_002)
        let json = many.json.text
        #expect(json.contains("\"\(words)\"") && json.contains("\"changes\": 5002"))
        #expect(json.components(separatedBy: "\"code\"").count == 5_001 && json.contains("\"required-added\""))
        #expect(many.text(TextLayout()).contains("\nNote: \(words)\n"))
        #expect(try !result(5_000).json.text.contains("not listed"))
    }
}
