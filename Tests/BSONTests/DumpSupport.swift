import BSON
import SystemPackage
import Testing

/// The result of reading bytes: all documents or, if there was an error, the documents before the error and the error.
struct Reading: Equatable {
    var documents: [BSONDocument] = []
    var error: DumpError?

    /// Reads the bytes as BSON, extended JSON or an archive, depending on their content.
    /// - Parameter wanted: the collections to read if the bytes are an archive.
    init(_ bytes: [UInt8], wanted: [Namespace] = [], bufferSize: Int = 1 << 12) throws {
        let file = try TemporaryFile(bytes)
        do throws(DumpError) {
            var input = try DumpInput(file.path, bufferSize: bufferSize)
            switch try input.kind() {
            case .archive: try read(archive: input, wanted)
            case .json: try read(json: input)
            case .bson, .unknown: try read(bson: input)
            }
        } catch { self.error = error }
    }

    private mutating func read(bson input: consuming DumpInput) throws(DumpError) {
        var reader = BSONFileReader(input, validating: true)
        while let view = try reader.next() { documents.append(BSONDocument(copying: view)) }
    }

    private mutating func read(json input: consuming DumpInput) throws(DumpError) {
        var reader = JSONFileReader(input)
        while let view = try reader.next() { documents.append(BSONDocument(copying: view)) }
    }

    private mutating func read(archive input: consuming DumpInput, _ wanted: [Namespace]) throws(DumpError) {
        var reader = try ArchiveReader(input, wanted: wanted, validating: true)
        while try reader.next() != nil { documents.append(BSONDocument(copying: reader.document)) }
    }
}

/// Returns the kind of source that a reader detects in these bytes.
func kind(of bytes: [UInt8], bufferSize: Int = 1 << 12) throws -> DumpKind {
    let file = try TemporaryFile(bytes)
    var input = try DumpInput(file.path, bufferSize: bufferSize)
    return try input.kind()
}
