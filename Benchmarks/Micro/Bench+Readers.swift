import BSON
import DumpWriter
import Glibc
import Scanning
import SystemPackage

extension Bench {
    /// Measures the readers of files, including the time of the operating system.
    mutating func measureReaders(documents: Int) throws {
        guard isAsked("read A.bson") || isAsked("read A.bson.gz") else { return }
        let corpus = Corpus(documents: documents)
        let folder = try TemporaryFolder()
        let orders = Namespace(database: "bench", collection: "Order")
        for (name, bytes) in [("A.bson", corpus.bytes), ("A.bson.gz", gzip(corpus.bytes))] {
            let path = folder.path.appending(name)
            let file = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
            _ = try file.closeAfter { try file.writeAll(bytes) }
            let reader = SourceReader([orders], source: path.string, options: ScanOptions())
            try measure("read \(name)", bytes: corpus.bytes.count, items: documents, of: "documents") {
                var count = 0
                _ = try reader.read { _, _ in count += 1 }
                precondition(count == documents, "every document is read")
            }
        }
    }
}

/// A temporary folder, which is removed with this value.
struct TemporaryFolder: ~Copyable {
    let path: FilePath

    init() throws {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/shipshape-bench-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        path = FilePath(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    deinit {
        for name in ["A.bson", "A.bson.gz"] { _ = unsafe unlink(path.appending(name).string) }
        _ = unsafe rmdir(path.string)
    }
}
