import Foundation
import Testing

/// `Package.swift` states the exact version of each dependency.
///
/// The repository has no `Package.resolved`, so only these versions make two clones build the same program.
@Suite struct PackageManifestTests {
    @Test func everyDependencyHasOneVersion() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let dependencies = manifest.split(separator: "\n").filter { $0.contains(".package(url:") }
        #expect(dependencies.count >= 6)
        for line in dependencies { #expect(line.contains(/, exact: "[0-9]+\.[0-9]+\.[0-9]+"/), "\(line)") }
    }
}
