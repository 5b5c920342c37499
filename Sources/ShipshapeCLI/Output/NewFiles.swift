internal import Foundation
internal import SystemPackage

/// Files that a command writes beside each other, and the folders that they need.
struct NewFiles {
    private let files: [(path: String, text: String)]

    /// Joins paths and texts.
    init(_ files: some Sequence<(String, String)>) { self.files = files.map { ($0, $1) } }

    /// Writes the files, all or, when one of them stands there already, none.
    /// - Parameter replacing: whether files that stand there are replaced.
    /// - Throws: ``OutputError``.
    func write(replacing: Bool) throws {
        if !replacing, let present = files.first(where: { (try? FilePath($0.path).stat()) != nil })?.path {
            throw OutputError(
                description: "\(present) stands there already, and nothing was written: --force replaces it")
        }
        for (path, text) in files {
            do {
                try FileManager.default.createDirectory(
                    atPath: FilePath(path).removingLastComponent().string, withIntermediateDirectories: true)
                try AtomicFile.write(text.utf8, to: path)
            } catch let error as CocoaError {
                // Foundation's own words are not for people.
                let reason = (error.underlying as? POSIXError).map { "\(Errno(rawValue: $0.code.rawValue))" }
                throw OutputError(description: "cannot write \(path): \(reason ?? "its folder cannot be made")")
            } catch {
                throw OutputError(description: "cannot write \(path): \(error)")
            }
        }
    }
}
