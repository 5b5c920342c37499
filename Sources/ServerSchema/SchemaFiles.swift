internal import FoundationEssentials
internal import SystemPackage

/// Reads the file that the user named, or the files of a folder, and records which files it read.
struct SchemaFiles {
    let root: FilePath
    /// The path as the user wrote it; messages and locations begin with it.
    private let name: FilePath
    let isFolder: Bool
    /// The environment values of the app, to which files may refer; `nil` if the files belong to no app.
    var environment: EnvironmentValues?
    /// The files that were read and on which the schemas depend, in the order of reading.
    private(set) var sources: [SchemaSource] = []

    init(at path: String, named name: String? = nil) throws(SchemaError) {
        root = FilePath(path)
        self.name = FilePath(name ?? path)
        do throws(Errno) {
            isFolder = try root.stat().type == .directory
        } catch {
            throw SourceFile.unreadable(name ?? path, error)
        }
    }

    private func path(_ relative: String) -> String { Self.path(relative, below: root) }

    private static func path(_ relative: String, below root: FilePath) -> String {
        relative.isEmpty ? root.string : root.pushing(FilePath(relative)).string
    }

    /// Returns the location of a whole file or folder, as the user would write it.
    func location(_ relative: String = "") -> SourceLocation {
        SourceLocation(whole: Self.path(relative, below: name))
    }

    /// Returns the path of a file or folder below the root as the user would write it.
    func shown(_ path: String) -> String {
        var relative = FilePath(path)
        return relative.removePrefix(root) ? location(relative.string).file : path
    }

    func isFile(_ relative: String) -> Bool { (try? FilePath(path(relative)).stat().type) == .regular }

    func isFolder(_ relative: String) -> Bool { (try? FilePath(path(relative)).stat().type) == .directory }

    /// Whether the path is a folder; `false` for a symbolic link to a folder, because following such links might never
    /// end.
    func isOwnFolder(_ relative: String) -> Bool {
        (try? FilePath(path(relative)).stat(followTargetSymlink: false).type) == .directory
    }

    func name(of relative: String) -> String { FilePath(relative).lastComponent?.string ?? relative }

    /// Returns the entries of a folder as sorted paths relative to the root, without hidden entries.
    func entries(of relative: String = "") throws(SchemaError) -> [String] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path(relative))
        } catch {
            throw SchemaError(
                .unreadable, at: location(relative), "the folder cannot be listed", remedy: "check its permissions")
        }
        return names.filter { !$0.hasPrefix(".") }.sorted().map { relative.isEmpty ? $0 : "\(relative)/\($0)" }
    }

    /// Returns the folders directly inside a folder, as paths relative to the root, without hidden folders.
    func folders(in relative: String) throws(SchemaError) -> [String] {
        try entries(of: relative).filter { isFolder($0) }
    }

    /// Returns the lines of the files `.env` in the folder of the schema and in the folder above it, where Prisma looks
    /// for the variables that a schema names.
    func dotEnv() -> [String] {
        let home = isFolder ? root : root.removingLastComponent()
        let folders = [home, home.isEmpty || home.string == "." ? ".." : home.removingLastComponent()]
        return folders.flatMap { folder -> [String] in
            let path = folder.isEmpty ? FilePath(".env") : folder.appending(".env")
            guard let bytes = try? SourceFile.bytes(of: path.string, named: path.string) else { return [] }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Reads and parses a file, and replaces references to environment values.
    /// - Parameter isSource: whether the schemas depend on the file.
    mutating func json(_ relative: String, isSource: Bool = true) throws(SchemaError) -> LocatedJSON {
        let (bytes, json) = try parsed(relative)
        try json.limitFields()
        if isSource { remember(relative, String(decoding: bytes, as: UTF8.self)) }
        guard EnvironmentValues.mayOccur(in: bytes) else { return json }
        let expanded = try EnvironmentValues.expand(json, from: environment)
        if isSource, let file = environment?.file, !sources.contains(where: { $0.path == file }) {
            remember(file, String(decoding: try parsed(file).bytes, as: UTF8.self))
        }
        return expanded
    }

    /// Reads and parses one file without replacing references to environment values.
    func parsed(_ relative: String) throws(SchemaError) -> (bytes: [UInt8], json: LocatedJSON) {
        let shown = location(relative).file
        let bytes = try SourceFile.bytes(of: path(relative), named: shown)
        return (bytes, try JSONParser.parse(bytes, file: shown))
    }

    mutating func text(_ relative: String) throws(SchemaError) -> String {
        let shown = location(relative)
        let bytes = try SourceFile.bytes(of: path(relative), named: shown.file)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SchemaError(.notUTF8, at: shown, "the file is not UTF-8", remedy: "save it as UTF-8")
        }
        remember(relative, text)
        return text
    }

    /// Forgets files on which the schemas do not depend, although their texts were read.
    mutating func forget(_ paths: Set<String>) { sources.removeAll { paths.contains($0.path) } }

    private mutating func remember(_ relative: String, _ text: String) {
        let path = relative.isEmpty ? root.lastComponent?.string ?? root.string : relative
        sources.append(SchemaSource(path: path, text: text))
    }
}
