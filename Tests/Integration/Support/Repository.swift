import SystemPackage

/// The repository that contains the tests.
enum Repository {
    private static let root = {
        var path = FilePath(#filePath)
        for _ in ["Tests", "Integration", "Support", "Repository.swift"] { path.removeLastComponent() }
        return path
    }()

    /// Returns the absolute path of a file or folder of the repository.
    static func path(_ path: String) -> FilePath { root.appending(path) }
}
