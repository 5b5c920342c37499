import Foundation
import SystemPackage
import Testing

/// Tests that `docs/architecture.md` and `CONTRIBUTING.md` name only source files that exist.
@Suite struct NamedFilesTests {
    private static let sources = ["Sources", "Tests", "Benchmarks", "jobs", "scripts"].flatMap { folder in
        (FileManager.default.enumerator(atPath: Repository.path(folder).string)?.allObjects ?? [])
            .compactMap { $0 as? String }.map { "/\(folder)/\($0)" }
    }

    /// Returns the names of Swift files, and the paths of sources and tests, that a page has between backticks.
    private static func names(in page: String) throws -> [String] {
        let text = try String(contentsOfFile: Repository.path(page).string, encoding: .utf8)
        return text.matches(of: /`(?<name>[\w\/+.-]+)`/).map { String($0.name) }
            .filter { $0.hasSuffix(".swift") || $0.hasPrefix("Sources/") || $0.hasPrefix("Tests/") }
    }

    @Test(arguments: ["docs/architecture.md", "CONTRIBUTING.md"]) func everyNamedFileExists(_ page: String) throws {
        let names = try Self.names(in: page)
        #expect(names.count > 20)
        for name in names {
            let end = name.hasSuffix("/") ? "/\(name.dropLast())" : "/\(name)"
            #expect(Self.sources.contains { $0.hasSuffix(end) }, "\(page) names \(name)")
        }
    }
}
