package import BSON
package import SystemPackage

/// Finds the `.bson` files of collections below what the user named: a mongodump folder, a folder of one database, or
/// one file.
package struct DumpFolder {
    private let root: FilePath

    /// The path as the user gave it.
    package var path: String { root.string }

    /// Names a folder or a file.
    package init(_ path: String) { root = FilePath(path) }

    /// Whether there is something at all, and whether it is a single file.
    package enum Kind {
        case missing, file, folder
    }

    /// What the path leads to.
    package var kind: Kind {
        switch try? root.stat().type {
        case .regular: .file
        case .directory: .folder
        default: .missing
        }
    }

    /// The file that holds the collection's documents; `nil` when there is none.
    ///
    /// mongodump writes `DATABASE/COLLECTION.bson`, with the characters that file names must not hold percent-encoded.
    package func file(of namespace: Namespace) -> FilePath? {
        if kind == .file { return root }
        let name = Self.encoded(namespace.collection) + ".bson"
        return [root.appending(namespace.database).appending(name), root.appending(name)].first { isFile($0) }
    }

    /// The compressed file of the collection, which is not read yet; `nil` when there is none.
    package func compressedFile(of namespace: Namespace) -> FilePath? {
        let name = Self.encoded(namespace.collection) + ".bson.gz"
        return [root.appending(namespace.database).appending(name), root.appending(name)].first { isFile($0) }
    }

    private func isFile(_ path: FilePath) -> Bool { (try? path.stat().type) == .regular }

    private static func encoded(_ name: String) -> String {
        String(name.flatMap { $0 == "/" ? Array("%2F") : $0 == "%" ? Array("%25") : [$0] })
    }
}
