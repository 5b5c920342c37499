import BSON
import FoundationEssentials
import SystemPackage

struct DumpFiles {
    /// A file, and its stem: its name without the suffix that shows its kind, such as `.bson.gz`.
    struct File {
        var path: FilePath
        var stem: String
    }

    /// The files that contain documents.
    private(set) var documents: [File] = []
    /// The files that contain mongodump's metadata of a collection.
    private(set) var metadata: [File] = []

    private static let documentSuffixes = [".bson", ".json", ".jsonl", ".ndjson"].flatMap { [$0, $0 + ".gz"] }
    private static let metadataSuffixes = [".metadata.json", ".metadata.json.gz"]

    /// Lists the files of a folder that contain documents or metadata; skips pipes and other special files.
    ///
    /// The lists are empty if the folder cannot be read.
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

    /// Returns the names in a folder, sorted; empty if the folder cannot be read.
    static func names(in folder: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []).sorted()
    }

    /// Returns the stems of a collection's files, which are the file names without suffixes; empty if the folder has no
    /// files of the collection.
    ///
    /// mongodump percent-encodes the characters that a file name must not contain. If the encoded name is too long,
    /// mongodump shortens it to 238 bytes, which end with a digest. The metadata contain the full name (mongo-tools,
    /// `mongodump/prepare.go`, `outputPath`).
    /// - Throws: ``DumpError`` if a metadata file is too large.
    func stems(of collection: String) throws(DumpError) -> Set<String> {
        var result = Set((documents + metadata).map(\.stem).filter { Self.decoded($0) == collection })
        for file in metadata where file.stem.utf8.count == 238 {
            if try Self.read(file)?.collectionName == collection { result.insert(file.stem) }
        }
        return result
    }

    /// Returns the name of the collection whose files have this stem.
    ///
    /// The stem is percent-decoded if possible. Old versions of mongodump did not encode names.
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

    /// Reads a metadata file; `nil` if it cannot be read, because the documents can be read without it.
    /// - Throws: ``DumpError`` if the file is larger than metadata can be.
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
