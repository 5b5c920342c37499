import BSON
import FoundationEssentials
import SystemPackage

/// Finds the files of collections in a folder with a dump.
///
/// The folder is the dump itself, the folder of one database in the dump, or a folder that contains the dump as `dump`.
/// In place of a `.bson` file, there may be a file of mongoexport.
struct DumpFolder {
    let root: FilePath

    init(_ path: FilePath) { root = path }

    /// The files of one collection that were found in the folder.
    struct CollectionFiles {
        /// The file with the collection's documents; `nil` if there is none.
        var documents: FilePath?
        /// The kind of the collection, from its metadata if there are any; `nil` if there are neither metadata nor
        /// documents.
        var kind: DumpMetadata.Kind?
        /// The collection's default collation; `nil` if it has none, or if there are no metadata.
        var collation: BSONDocument?
        /// The folder of the collection's database; the root of the search if no file was found.
        var folder: FilePath
    }

    /// Searches for the files of a collection.
    /// - Throws: ``SourceError`` if a folder holds the documents more than once; ``DumpError`` if a metadata file is
    ///   larger than metadata can be.
    func files(of namespace: Namespace) throws -> CollectionFiles {
        for folder in [namespace.database, "dump/\(namespace.database)", ""].map({ root.pushing(FilePath($0)) }) {
            let files = DumpFiles(in: folder)
            let stems = try files.stems(of: namespace.collection)
            let found = files.documents.filter { stems.contains($0.stem) }
            guard found.count <= 1 else {
                throw SourceError(
                    "\(folder) holds the documents of \(namespace) more than once: "
                        + found.map(\.path.string).sorted().joined(separator: ", ") + " (remove all but one)")
            }
            let metadata = files.metadata.first { stems.contains($0.stem) }
            if found.isEmpty, metadata == nil { continue }
            let description = try metadata.flatMap { try DumpFiles.read($0) }
            return CollectionFiles(
                documents: found.first?.path, kind: description?.kind ?? .collection,
                collation: description?.options["collation"]?.document, folder: folder)
        }
        return CollectionFiles(folder: root)
    }

    /// Returns the collections whose documents are where mongodump stores them, without the server's own collections.
    func namespaces() -> [Namespace] {
        var result: [Namespace] = []
        for parent in [root, root.appending("dump")] {
            for database in DumpFiles.names(in: parent) {
                for file in DumpFiles(in: parent.appending(database)).documents {
                    result.append(Namespace(database: database, collection: DumpFiles.decoded(file.stem)))
                }
            }
        }
        return result.filter(\.isOfUsers).sorted()
    }
}

extension DumpFolder {
    /// Returns notes for the user: one if the folder was read as a database with another name than the folder, and one
    /// for each oplog file that was not read.
    func notes(on files: [CollectionFiles], for namespaces: [Namespace]) -> [String] {
        var notes: [String] = []
        let renamed = zip(files, namespaces).first { files, namespace in
            files.documents != nil && files.folder == root.pushing("")
                && root.lastComponent?.string != namespace.database
        }
        if let database = renamed?.1.database { notes.append("\(root) was read as the database \(database)") }
        for name in ["oplog.bson", "oplog.bson.gz", "dump/oplog.bson", "dump/oplog.bson.gz"] {
            let file = root.pushing(FilePath(name))
            if (try? file.stat().type) == .regular { notes.append(Self.oplogNote(file.string)) }
        }
        return notes
    }

    static func oplogNote(_ name: String) -> String {
        "\(name) was not read: writes made during the dump were not checked"
    }
}

extension Namespace {
    /// Whether the collection belongs to users, and not to the server.
    var isOfUsers: Bool { !["", "admin", "config", "local"].contains(database) && !collection.hasPrefix("system.") }
}
