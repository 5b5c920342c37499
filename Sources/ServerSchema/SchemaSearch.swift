internal import FoundationEssentials
internal import SystemPackage

/// Finds, below a given folder, the folders that hold schemas.
///
/// The found folders are only suggested to the user. The search therefore ignores folders that it cannot read, and ends
/// early in a very large folder.
package enum SchemaSearch {
    private static let mostLevels = 4
    private static let mostFolders = 1_000
    /// The names of folders that hold the files of other programs.
    private static let ignored: Set = ["node_modules", "Pods", "vendor", "build", "dist", "target", "dump"]

    /// Returns the folders with schemas, nearest first and sorted by name on each level.
    ///
    /// A folder inside a returned one is not returned, because it belongs to the same app.
    /// - Parameter path: the folder to search, which itself is not returned.
    package static func folders(below path: String) -> [String] {
        var (found, level, searched) = ([FilePath](), [FilePath(path)], 0)
        for _ in 0..<mostLevels where !level.isEmpty && searched < mostFolders {
            let next = level.flatMap(subfolders).prefix(mostFolders - searched)
            searched += next.count
            let schemas = next.filter(holdsSchemas)
            found += schemas
            level = next.filter { !schemas.contains($0) }
        }
        return found.map(\.string)
    }

    private static func subfolders(of folder: FilePath) -> [FilePath] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
        return names.sorted().filter { !$0.hasPrefix(".") && !ignored.contains($0) }
            .map { folder.string == "." ? FilePath($0) : folder.appending($0) }
            .filter { (try? $0.stat(followTargetSymlink: false).type) == .directory }
    }

    private static func holdsSchemas(_ folder: FilePath) -> Bool {
        let marks = ["root_config.json", "realm_config.json", "stitch.json", "data_sources"]
        if marks.contains(where: { (try? folder.appending($0).stat()) != nil }) { return true }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
        if names.contains(where: { $0.hasSuffix(".prisma") }) { return true }
        guard let files = try? SchemaFiles(at: folder.string) else { return false }
        var reading = SchemaReading(files: files, wanted: nil)
        reading.isSuggested = true
        do throws(SchemaError) {
            // A file such as `app.config.json` is read as the schema of a collection, but may belong to another
            // program. Only a schema that has properties counts.
            return try reading.run().collections.contains { !$0.root.properties.isEmpty }
        } catch {
            // A folder is also suggested if the names of its schema files do not show which collections they cover. If
            // the user then names this folder to a command, the command's error says how to rename the files.
            return error.code == .namespaceUnknown
        }
    }
}
