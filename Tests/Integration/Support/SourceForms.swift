import BSON
import DumpWriter
import Mongo
import SystemPackage
import TestSupport

/// The file formats that `--source` reads; a test can write the same collections in each of them.
enum SourceForm: String, CaseIterable {
    case folder, folderGzip, nestedFolder, archive, archiveGzip, canonicalLines, canonicalArray, relaxedLines, linesGzip

    /// Whether the format distinguishes an `int` from a `long`.
    var keepsTypes: Bool { self != .relaxedLines }

    /// Writes the collections to files, and returns the argument of `--source`.
    func write(_ collections: [(Namespace, [BSONDocument])], to folder: CommandLineFolder) throws -> String {
        let path = folder.path.appending(rawValue).string
        switch self {
        case .folder, .folderGzip, .nestedFolder:
            let base = rawValue + (self == .nestedFolder ? "/dump" : "")
            for (namespace, documents) in collections {
                let bytes = documents.flatMap(\.bytes)
                let file = "\(base)/\(namespace.database)/\(namespace.collection)"
                let metadata = Array(#"{"options":{},"indexes":[],"uuid":"00"}"#.utf8)
                let isCompressed = self == .folderGzip
                try folder.write(isCompressed ? gzip(bytes) : bytes, to: file + (isCompressed ? ".bson.gz" : ".bson"))
                try folder.write(
                    isCompressed ? gzip(metadata) : metadata,
                    to: file + (isCompressed ? ".metadata.json.gz" : ".metadata.json"))
            }
        case .archive: try folder.write(ArchiveWriter.interleaved(collections), to: rawValue)
        case .archiveGzip: try folder.write(gzip(ArchiveWriter.interleaved(collections)), to: rawValue)
        case .canonicalLines, .canonicalArray, .relaxedLines, .linesGzip:
            for (namespace, documents) in collections {
                let objects = try documents.map { try $0.extendedJSON(self == .relaxedLines ? .relaxed : .canonical) }
                let text =
                    self == .canonicalArray
                    ? "[" + objects.joined(separator: ",\n") + "]\n" : objects.map { $0 + "\n" }.joined()
                let file = "\(rawValue)/\(namespace.database)/\(namespace.collection).json"
                let bytes = Array(text.utf8)
                let isCompressed = self == .linesGzip
                try folder.write(isCompressed ? gzip(bytes) : bytes, to: file + (isCompressed ? ".gz" : ""))
            }
        }
        return path
    }
}
