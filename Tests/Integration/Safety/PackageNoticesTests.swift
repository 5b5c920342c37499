import Foundation
import Subprocess
import SystemPackage
import Testing

/// The Debian package contains the licences of everything that is linked into the program.
@Suite struct PackageNoticesTests {
    @Test func everyLinkedPackageHasItsLicence() async throws {
        let run = try await Subprocess.run(
            .path(Repository.path("scripts/package")), arguments: ["--notices"], output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 16))
        #expect(run.terminationStatus.isSuccess, "\(run.standardError)")
        let manifest = try String(contentsOfFile: Repository.path("Package.swift").string, encoding: .utf8)
        let packages = manifest.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)"/).map { String($0.1) }
        #expect(packages.count > 8)
        for name in packages {
            #expect(run.standardOutput.contains("\nThe program contains \(name), LICENSE"), "\(name)")
        }
        for text in ["Runtime Library Exception", "UNICODE LICENSE V3", "Kirill Simonov", "swift-log, NOTICE"] {
            #expect(run.standardOutput.contains(text), "\(text)")
        }
    }

    /// The manifest states an exact version even for indirect dependencies, so that every clone builds the same
    /// program.
    @Test func noDependencyFloats() throws {
        let manifest = try String(contentsOfFile: Repository.path("Package.swift").string, encoding: .utf8)
        let resolved = try String(contentsOfFile: Repository.path("Package.resolved").string, encoding: .utf8)
        let pins = resolved.matches(of: /"location" : "([^"]+?)(?:\.git)?",[^}]*"version" : "([^"]+)"/)
        #expect(pins.count > 8)
        for pin in pins {
            #expect(manifest.contains(".package(url: \"\(pin.1)\", exact: \"\(pin.2)\""), "\(pin.1) \(pin.2)")
        }
    }
}
