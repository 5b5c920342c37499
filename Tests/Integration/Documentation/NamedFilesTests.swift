import Foundation
import SystemPackage
import Testing

/// Tests that every source file that `docs/architecture.md` or `CONTRIBUTING.md` names exists.
@Suite struct NamedFilesTests {
    private static let sources = ["Sources", "Tests", "Benchmarks", "jobs", "scripts"].flatMap { folder in
        (FileManager.default.enumerator(atPath: Repository.path(folder).string)?.allObjects ?? [])
            .compactMap { $0 as? String }.map { "/\(folder)/\($0)" }
    }

    /// Returns the texts between backticks on a page that are names of Swift files, or paths of sources or tests.
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
