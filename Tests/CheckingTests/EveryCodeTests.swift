import Foundation
import Testing

/// Every code of a rule has an example in the tests: none can be added without one.
@Suite struct EveryCodeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func texts(in folder: String, where isWanted: (String) -> Bool = { _ in true }) -> [String] {
        let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "swift" && isWanted($0.lastPathComponent) }
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
    }

    /// The constants of files, by what they are called in Swift and in reports.
    private static func codes(in folder: String, files prefix: String) -> [(symbol: String, code: String)] {
        let pattern = /public static let (?<symbol>\w+)(: Self)? = (Self\(rawValue: )?"(?<code>[a-z-]+)"/
        return texts(in: folder) { $0.hasPrefix(prefix) }
            .flatMap { $0.matches(of: pattern).map { (String($0.symbol), String($0.code)) } }
    }

    @Test func rulesOfDocuments() {
        let codes = Self.codes(in: "Sources/Checking", files: "RuleCode")
        #expect(codes.count > 55)
        let tests = (Self.texts(in: "Tests/CheckingTests") + Self.texts(in: "Tests/Integration")).joined()
        for (symbol, code) in codes {
            // As a finding's first word, or as the constant.
            let isNamed = tests.contains("\"\(code) ") || tests.contains(".\(symbol)") || tests.contains("\"\(code)\"")
            #expect(isNamed, "no test produces \(code)")
        }
    }

    @Test func rulesOfLint() {
        let codes = Self.codes(in: "Sources/ServerSchema/Lint", files: "LintFinding")
        #expect(codes.count > 55)
        let tests = Self.texts(in: "Tests/ServerSchemaTests/Lint").joined()
        for (symbol, code) in codes {
            // As a finding's first word, and as `code level`.
            let isNamed = ["error", "warning", "info"].contains { tests.contains("\(code) \($0)") }
            #expect(isNamed || tests.contains(".\(symbol)"), "no test produces \(code)")
        }
    }
}
