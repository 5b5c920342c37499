import SystemPackage

/// The repository that contains the tests.
enum Repository {
    private static let root = {
        var path = FilePath(#filePath)
        for _ in ["Tests", "Integration", "Support", "Repository.swift"] { path.removeLastComponent() }
        return path
    }()

    /// Returns the path of a file or folder, which is given by its path from the root.
    static func path(_ path: String) -> FilePath { root.appending(path) }
}
