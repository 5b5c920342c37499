import BSON
import FoundationEssentials
import SystemPackage

/// The files of one database's folder in a dump.
struct DumpFiles {
    /// A file, and its name without what says what it is.
    struct File {
        var path: FilePath
        var stem: String
    }

    /// Those that hold documents.
    private(set) var documents: [File] = []
    /// Those that hold what mongodump says of a collection.
    private(set) var metadata: [File] = []

    private static let documentSuffixes = [".bson", ".json", ".jsonl", ".ndjson"].flatMap { [$0, $0 + ".gz"] }
    private static let metadataSuffixes = [".metadata.json", ".metadata.json.gz"]

    /// Lists a folder; one that cannot be listed holds nothing, and what is no file, such as a pipe, is none of a dump's.
    init(in folder: FilePath) {
        for name in Self.names(in: folder) {
            let path = folder.appending(name)
            guard (try? path.stat().type) == .regular else { continue }
            if let suffix = Self.metadataSuffixes.first(where: name.hasSuffix) {
                metadata.append(File(path: path, stem: String(name.dropLast(suffix.count))))
            } else if let suffix = Self.documentSuffixes.first(where: name.hasSuffix) {
                documents.append(File(path: path, stem: String(name.dropLast(suffix.count))))
            }
        }
    }

    /// The names of what is in a folder, sorted; none when it cannot be listed.
    static func names(in folder: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []).sorted()
    }

    /// The stems that stand for a collection.
    ///
    /// mongodump percent-encodes what a file name must not hold. A name that is longer than 238 bytes then is cut and gets
    /// a digest; the metadata have it whole (mongo-tools, `mongodump/prepare.go`, `outputPath`).
    /// - Throws: ``DumpError`` when metadata are too large to be any.
    func stems(of collection: String) throws(DumpError) -> Set<String> {
        var result = Set((documents + metadata).map(\.stem).filter { Self.decoded($0) == collection })
        for file in metadata where file.stem.utf8.count == 238 {
            if try Self.read(file)?.collectionName == collection { result.insert(file.stem) }
        }
        return result
    }

    /// The collection's name that a stem stands for; old versions of mongodump encoded nothing.
    static func decoded(_ stem: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(stem.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let code = UInt8(digits, radix: 16) else { return stem }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self) ?? stem
    }

    /// What the metadata say; `nil` when they cannot be read, since no document depends on them.
    /// - Throws: ``DumpError`` when they are too large to be any.
    static func read(_ file: File) throws(DumpError) -> DumpMetadata? {
        do throws(DumpError) {
            var input = try DumpInput(file.path)
            let text = try input.text()
            return try? DumpMetadata(json: text)
        } catch {
            guard error.code == .tooLong else { return nil }
            throw error
        }
    }
}
