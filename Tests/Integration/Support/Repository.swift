import SystemPackage

/// The repository that the tests lie in.
enum Repository {
    private static let root = {
        var path = FilePath(#filePath)
        for _ in ["Tests", "Integration", "Support", "Repository.swift"] { path.removeLastComponent() }
        return path
    }()

    /// A file or folder, by its path from the root.
    static func path(_ path: String) -> FilePath { root.appending(path) }
}
