internal import Foundation
internal import Subprocess
internal import SystemPackage

/// A file or folder in a git revision, under the name that git has for it, such as `HEAD~1:schemas`.
///
/// As in git, the path begins at the repository's root, or at the current folder if it begins with `./`.
package struct GitRevision {
    /// The revision and the path as the operator wrote them, such as `HEAD~1:schemas`.
    package let name: String
    private let revision: String
    private let path: String

    /// Reads `REVISION:PATH`; `nil` for any other text, or if a file or folder has exactly that name.
    package init?(_ name: String) {
        var depth = 0
        // A colon in braces belongs to the name of the revision, as in HEAD^{/fix: the schema}.
        let colon = name.indices.first { index in
            if name[index] == "{" { depth += 1 }
            if name[index] == "}" { depth -= 1 }
            return name[index] == ":" && depth <= 0
        }
        guard let colon, colon != name.startIndex, !FileManager.default.fileExists(atPath: name) else { return nil }
        self.name = name
        revision = String(name[..<colon])
        path = String(name[name.index(after: colon)...])
    }

    /// Returns `PATH` for the name `REVISION:PATH` of a file in this revision; returns any other name unchanged.
    package func path(of file: String) -> String {
        file.hasPrefix("\(revision):") ? String(file.dropFirst(revision.count + 1)) : file
    }

    /// Calls `read` with the path of a private copy of the file or folder; the copy is removed afterwards.
    /// - Throws: ``InputError`` if git cannot provide the copy, for example because the revision lacks the file;
    ///   ``OutputError``; errors of `read`.
    package func checkedOut<R>(_ read: (String) throws -> R) async throws -> R {
        let repository = try await git(["rev-parse", "--absolute-git-dir"]) {
            "this folder is not in a git repository" + ($0.isEmpty ? "" : " (git: \($0))")
        }
        let object = try await object()
        let kind = try await git(["cat-file", "-t", object]) { _ in
            "it is a submodule: name the path in that repository"
        }
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        // The copy keeps its path in the repository, because the path may say which collection the file covers.
        let place = folder.appending("tree").pushing(FilePath(path.isEmpty ? "." : path)).lexicallyNormalized()
        guard place.starts(with: folder) else { throw InputError("\(name): the path leads out of the repository") }
        let root = kind == "tree" ? place : place.removingLastComponent()
        try FileManager.default.createDirectory(atPath: root.string, withIntermediateDirectories: true)
        let index = folder.appending("index")
        let entry =
            kind == "tree"
            ? ["read-tree", object]
            : ["update-index", "--add", "--cacheinfo", "100644,\(object),\(place.lastComponent?.string ?? "file")"]
        let bound = ["--git-dir", repository, "--work-tree", root.string]
        for command in [entry, ["checkout-index", "--all", "--force"]] {
            try await git(bound + command, index: index, in: root) { "git cannot read it: \($0)" }
        }
        try refuseLinks(out: folder, of: root)
        return try read(place.string)
    }

    /// Refuses links that lead out of the copy, because a committer could use them to make the program read other
    /// files.
    private func refuseLinks(out folder: FilePath, of root: FilePath) throws {
        let home = URL(fileURLWithPath: folder.string).resolvingSymlinksInPath().path + "/"
        let entries = FileManager.default.enumerator(atPath: root.string)
        while let entry = entries?.nextObject() as? String {
            let path = root.pushing(FilePath(entry))
            guard (try? path.stat(followTargetSymlink: false).type) == .symbolicLink else { continue }
            let target = URL(fileURLWithPath: path.string).resolvingSymlinksInPath().path
            guard !(target + "/").hasPrefix(home) else { continue }
            throw InputError("\(name): \(entry) is a link to a place outside of it: name that place instead")
        }
    }

    /// Returns the ID of the git object, a file or a folder, to which the path leads in the revision.
    private func object() async throws -> String {
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
        try await git(verify + ["\(revision)^{tree}"]) { _ in "git knows no revision \"\(revision)\"" }
        do {
            return try await git(verify + ["\(revision):\(path)"]) { _ in "revision \(revision) has no \"\(path)\"" }
        } catch let error as InputError {
            guard (try? await git(verify + ["\(revision):./\(path)"]) { $0 }) != nil else { throw error }
            throw InputError(
                "\(error) (the path begins at the repository's root; "
                    + "write \(revision):./\(path) for one in this folder)")
        }
    }

    /// Runs git, and returns the first line of its output; empty if there is none.
    /// - Parameter failure: returns the message for a failure, given the last line of git's error output.
    @discardableResult
    private func git(
        _ arguments: [String], index: FilePath? = nil, in folder: FilePath? = nil,
        orElse failure: (String) -> String
    ) async throws -> String {
        // Git may run programs that the repository chooses, such as filters. These programs must not get the user's
        // secrets, so the variables that begin with `SHIPSHAPE_` are removed.
        let secrets = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("SHIPSHAPE_") }
        var changes = Dictionary(
            uniqueKeysWithValues: secrets.map { (Environment.Key(stringLiteral: $0), String?.none) })
        if let index { changes["GIT_INDEX_FILE"] = index.string }
        let result: ExecutionResult<Void, StringOutput<UTF8>, StringOutput<UTF8>>
        do {
            result = try await Subprocess.run(
                .name("git"),
                arguments: Arguments(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"] + arguments),
                environment: .inherit.updating(changes), workingDirectory: folder,
                output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        } catch {
            throw InputError("\(name): there is no such file or folder, and git cannot be run to look for a revision")
        }
        guard result.terminationStatus.isSuccess else {
            let last = result.standardError.split(separator: "\n").last.map(String.init) ?? ""
            throw InputError("\(name): \(failure(last))")
        }
        return result.standardOutput.split(separator: "\n").first.map(String.init) ?? ""
    }

    private static func makeFolder() throws -> FilePath {
        let folder = FilePath(NSTemporaryDirectory()).appending("shipshape-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                atPath: folder.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw OutputError(description: "cannot create the folder \(folder): \(error)")
        }
        return folder
    }
}
