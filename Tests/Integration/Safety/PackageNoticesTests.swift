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
        #expect(packages.count > 6)
        for name in packages {
            #expect(run.standardOutput.contains("\nThe program contains \(name), LICENSE"), "\(name)")
        }
        for text in ["Runtime Library Exception", "UNICODE LICENSE V3", "Kirill Simonov", "swift-log, NOTICE"] {
            #expect(run.standardOutput.contains(text), "\(text)")
        }
    }

    /// An SPDX document, which lists the contents of a release, with only the properties that the tests read.
    private struct Contents: Decodable {
        struct Package: Decodable {
            let name: String
            let versionInfo: String?
            let licenseDeclared: String
        }
        struct Relationship: Decodable { let relationshipType: String }

        let spdxVersion: String
        let packages: [Package]
        let relationships: [Relationship]
    }

    /// The script `sbom` lists the contents of the program that the tests run.
    @Test func theListOfContentsNamesWhatIsLinkedWithItsVersionAndLicence() async throws {
        let build = try Program.path.removingLastComponent()
        let checkouts = build.removingLastComponent().removingLastComponent().appending("checkouts")
        let script = #"SOURCE_DATE_EPOCH=1 exec "$1" "$0" "${@:2}""#
        let arguments = [
            Repository.path("scripts/lib/sbom").string, build.string, checkouts.string,
            "libpcre2-8-0 (>= 10.32), libc6 (>= 2.34)",
        ]
        let run = try await Program.shell(script, arguments)
        try #require(run.exitCode == 0, "\(run.errors)")
        let contents = try JSONDecoder().decode(Contents.self, from: Data(run.output.utf8))
        #expect(contents.spdxVersion == "SPDX-2.3")
        let names = Set(contents.packages.map(\.name))
        #expect(names.isSuperset(of: ["shipshape", "swift", "swift-foundation-icu", "swift-log", "libyaml", "libc6"]))
        // `Package.swift` states this package only to fix its version, and the program does not contain it.
        #expect(!names.contains("swift-service-lifecycle"))
        #expect(contents.packages.allSatisfy { $0.licenseDeclared != "NOASSERTION" })
        #expect(contents.relationships.count { $0.relationshipType == "DYNAMIC_LINK" } == 2)
        let manifest = try String(contentsOfFile: Repository.path("Package.swift").string, encoding: .utf8)
        let versions = manifest.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", exact: "([^"]+)"/)
        for version in versions {
            for package in contents.packages where package.name == version.1 {
                #expect(package.versionInfo == String(version.2), "\(package.name)")
            }
        }
        #expect(try await Program.shell(script, arguments).output == run.output)
    }

    /// `Package.swift` states an exact version even for indirect dependencies, so that every clone builds the same
    /// program.
    @Test func noDependencyFloats() throws {
        let manifest = try String(contentsOfFile: Repository.path("Package.swift").string, encoding: .utf8)
        let resolved = try String(contentsOfFile: Repository.path("Package.resolved").string, encoding: .utf8)
        let pins = resolved.matches(of: /"location" : "([^"]+?)(?:\.git)?",[^}]*"version" : "([^"]+)"/)
        #expect(pins.count > 6)
        for pin in pins {
            #expect(manifest.contains(".package(url: \"\(pin.1)\", exact: \"\(pin.2)\""), "\(pin.1) \(pin.2)")
        }
    }
}
