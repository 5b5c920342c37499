import Foundation
import LocatedYAML
package import ServerSchema
package import SystemPackage

/// A copy of a schema beside the jobs that name it, so that the jobs stay as they were planned when an application
/// changes its schema.
///
/// The folder `schemas` beside the jobs has one folder for each content, whose name is the digest of its files.
package struct SchemaCopy {
    private static let folder = "schemas"
    /// The number of hexadecimal digits in the name of a copy.
    private static let digits = 16

    /// The path by which jobs name the schema: the folder of the copy, or the only copied file.
    package let place: FilePath
    /// The path and the text of each copied file.
    package let files: [(path: String, text: String)]

    /// Creates the copy of a schema beside the jobs in a folder; `nil` for a schema that was read from no file.
    package init?(of schema: ServerSchema, in base: FilePath) {
        // A source never leads out of the folder of the copy.
        let sources = schema.sources.map { (path: FilePath($0.path).lexicallyNormalized(), text: $0.text) }
            .filter { $0.path.isRelative && $0.path.components.first?.kind == .regular }
        guard !sources.isEmpty else { return nil }
        let digest = Self.digest(of: sources.map { ($0.path.string, $0.text) })
        let folder = base.appending(Self.folder).appending(digest)
        place = schema.isOneFile ? folder.pushing(sources[0].path) : folder
        files = sources.map { (folder.pushing($0.path).string, $0.text) }
    }

    private static func digest(of files: [(path: String, text: String)]) -> String {
        let lines = files.map { "\($0.path) \(SHA256.text(of: Array($0.text.utf8)))" }.sorted()
        return String(SHA256.text(of: Array(lines.joined(separator: "\n").utf8)).prefix(digits))
    }

    /// Throws if the path leads into a copy whose files are not those that were copied.
    /// - Parameter location: the place of the job that names the path.
    package static func check(_ path: FilePath, for location: SourceLocation) throws(JobError) {
        var folder = FilePath(root: path.root, [])
        for component in path.components {
            let isCopy = folder.lastComponent?.string == Self.folder && isName(component.string)
            folder.append(component)
            guard isCopy else { continue }
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.string)) ?? []
            let files = names.compactMap { name in
                FileManager.default.contents(atPath: folder.pushing(FilePath(name)).string)
                    .map { (path: name, text: String(decoding: $0, as: UTF8.self)) }
            }
            guard digest(of: files) != component.string else { return }
            throw JobError(
                "\(folder), the schema as shipshape plan read it, "
                    + (files.isEmpty ? "is missing" : "was changed since")
                    + ": restore it, for example by git checkout, or write the jobs again with shipshape plan",
                at: location)
        }
    }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count == digits && text.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }
}
