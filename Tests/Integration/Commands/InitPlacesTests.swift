import Foundation
import SystemPackage
import Testing

/// Tests that `init` writes only into the project, and only what a service reads as it is meant.
@Suite struct InitPlacesTests {
    private func withProject(_ name: String = "schemas", _ body: (CommandLineFolder) async throws -> Void) async throws
    {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try FileManager.default.copyItem(
            atPath: DemoApp.folder.appending("v2").string, toPath: folder.path.appending(name).string)
        try await body(folder)
    }

    private func link(_ name: String, to target: String, in folder: CommandLineFolder) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path.appending(name).string, withDestinationPath: target)
    }

    @Test(arguments: [".github", "jobs"]) func aLinkedFolderIsNotFollowedOutOfTheProject(_ name: String) async throws {
        let outside = try CommandLineFolder()
        defer { outside.remove() }
        try await withProject { folder in
            try link(name, to: outside.path.string, in: folder)
            for force in [[], ["--force"]] {
                let run = try await Program.run(
                    ["init", "--schema", "schemas", "--ci", "github"] + force, in: folder.path)
                #expect(run.exitCode == 73 && run.errors.contains("out of this project"), "\(run.errors)")
            }
            #expect(outside.names.isEmpty && !folder.names.contains("shipshape.yml"))
            // A link to another folder of the project is the user's own arrangement.
            try FileManager.default.removeItem(atPath: folder.path.appending(name).string)
            try FileManager.default.createDirectory(
                atPath: folder.path.appending("tools").string, withIntermediateDirectories: true)
            try link(name, to: "tools", in: folder)
            let run = try await Program.run(["init", "--schema", "schemas", "--ci", "github"], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
        }
    }

    @Test func aLinkThatLeadsToNothingIsAFile() async throws {
        try await withProject { folder in
            try link("shipshape.yml", to: "missing.yml", in: folder)
            let run = try await Program.run(["init", "--schema", "schemas"], in: folder.path)
            #expect(run.exitCode == 73 && run.errors.contains("shipshape.yml already exists"), "\(run.errors)")
            #expect(folder.names == ["schemas", "shipshape.yml"])
        }
    }

    @Test(arguments: ["${{ secrets.X }}", "$HOME", "a*b", "a\nb"]) func aWorkflowNamesOnlyPaths(_ name: String)
        async throws
    {
        try await withProject(name) { folder in
            for service in ["github", "gitlab"] {
                let run = try await Program.run(["init", "--schema", name, "--ci", service], in: folder.path)
                #expect(run.exitCode == 64 && run.errors.contains("as one path"), "\(run.errors)")
            }
            #expect(folder.names.count == 1)
        }
    }

    @Test func theFilesAreForAllWhoWorkInTheProject() async throws {
        try await withProject { folder in
            let run = try await Program.run(["init", "--schema", "schemas", "--ci", "github"], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            let mask = umask(0)
            umask(mask)
            for file in ["shipshape.yml", "jobs/README.md", ".github/workflows/schemas.yml"] {
                let mode = try folder.path.appending(file).stat().permissions.rawValue & 0o777
                #expect(mode == 0o666 & ~mask, "\(file)")
            }
        }
    }
}
