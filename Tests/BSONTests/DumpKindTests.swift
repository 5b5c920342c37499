import BSON
import DumpWriter
import Testing

/// Tests that the kind of a source is detected by the source's content and not by its name.
@Suite struct DumpKindTests {
    @Test func theFirstBytesDecideTheKind() throws {
        let document: BSONDocument = ["_id": 1]
        let archive = ArchiveWriter.interleaved([])
        for (bytes, expected): ([UInt8], DumpKind) in [
            (document.bytes, .bson), ([], .bson), (archive, .archive), (Array("{}".utf8), .json),
            (Array(" [".utf8), .json), (Array("[{\"a\": 1}]".utf8), .json), (Array("_id,name\n1,Ada\n".utf8), .unknown),
            (Array("PK\u{3}\u{4}..".utf8), .unknown), ([0x28, 0xB5, 0x2F, 0xFD, 0, 0], .unknown),
            ([0, 0, 0, 0], .unknown),
        ] {
            for size in [1, 5, 4096] { #expect(try kind(of: bytes, bufferSize: size) == expected, "\(bytes)") }
            #expect(try kind(of: gzip(bytes)) == expected, "\(bytes)")
        }
    }

    /// A BSON document begins with its length, and the bytes of the length may look like the beginning of JSON text.
    ///
    /// The reader must still detect the document as BSON.
    @Test(arguments: [0x20, 0x5B, 0x7B, 0x0A0A, 0xBF_BBEF]) func aDocumentOfAnyLengthIsBSON(_ length: Int) throws {
        let document: BSONDocument = ["b": .binary(subtype: 0, bytes: Array(repeating: 1, count: length - 13))]
        #expect(try kind(of: document.bytes) == .bson)
        #expect(try Reading(document.bytes).documents == [document])
    }

    @Test func blanksWithoutEndAreNoExport() throws {
        #expect(try kind(of: Array(repeating: 0x20, count: 3 << 20)) == .unknown)
    }
}
