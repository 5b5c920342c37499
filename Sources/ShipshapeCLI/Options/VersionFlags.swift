internal import ArgumentParser
internal import Foundation
internal import SystemPackage

/// The flags for the older versions with which `diff` compares a schema, in place of the argument OLD.
struct VersionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An older version that NEW is compared with, in place of OLD (repeatable): each has its own verdict.",
            valueName: "schema"))
    var against: [SchemaArgument] = []

    @Option(
        help: ArgumentHelp(
            "A folder of older versions, in place of OLD: each folder, .json and .prisma file in it is one.",
            valueName: "folder"), completion: .directory)
    var versions: String?

    /// Whether the command line has `--against` or `--versions`.
    var areGiven: Bool { !against.isEmpty || versions != nil }

    /// The files and folders that `--against` and `--versions` name.
    var names: [String] { against.map(\.name) + [versions].compactMap(\.self) }

    /// Returns the older versions: first those in the folder of `--versions`, sorted by name with `v9` before `v10`,
    /// then each one that `--against` names.
    /// - Throws: ``InputError`` if the folder contains no version or cannot be read.
    func schemas() throws -> [SchemaArgument] {
        guard let versions else { return against }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: versions) } catch {
            throw InputError("--versions \(versions): \(error.localizedDescription)")
        }
        let schemas = names.filter { Self.isVersion($0, in: versions) }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            .map { SchemaArgument(argument: FilePath(versions).appending($0).string) }
        guard !schemas.isEmpty else {
            throw InputError(
                "--versions \(versions): it contains no version: put each into a folder, a .json or a .prisma file")
        }
        return schemas + against
    }

    private static func isVersion(_ name: String, in folder: String) -> Bool {
        guard !name.hasPrefix("."), let type = try? FilePath(folder).appending(name).stat().type else { return false }
        return type == .directory || type == .regular && (name.hasSuffix(".json") || name.hasSuffix(".prisma"))
    }
}
