import BSON
import DumpWriter
import Testing

/// Tests that a compressed source is read like the uncompressed source.
@Suite struct GzipTests {
    private static let documents: [BSONDocument] = (0..<2_000).map { number in
        ["_id": .integer(number), "text": .string(String(number * 7_919, radix: 36))]
    }
    private static let bytes = documents.flatMap(\.bytes)

    @Test(arguments: [5, 64, 4096, 1 << 20]) func compressedBytesAreRestored(_ bufferSize: Int) throws {
        let result = try Reading(gzip(Self.bytes), bufferSize: bufferSize)
        #expect(result.error == nil)
        #expect(result.documents == Self.documents)
    }

    @Test func severalMembersAreOneSource() throws {
        let parts = stride(from: 0, to: Self.bytes.count, by: 10_001).map { start in
            gzip(Array(Self.bytes[start..<min(start + 10_001, Self.bytes.count)]))
        }
        let members = parts.flatMap { $0 } + gzip([])
        #expect(try Reading(members).documents == Self.documents)
        #expect(try Reading(members + [0, 0, 0, 0]).documents == Self.documents)
        #expect(try Reading(members + [0, 0x1F]).error?.code == .damagedGzip)
        #expect(try Reading(members + [7]).error?.code == .truncatedGzip)
        #expect(try Reading(members + [7, 7]).error?.code == .damagedGzip)
    }

    @Test func nothingCompressedIsNothing() throws {
        #expect(try Reading(gzip([])).documents.isEmpty)
        #expect(try Reading(gzip([])).error == nil)
    }

    @Test func offsetsAreThoseOfWhatWasCompressed() throws {
        let error = try #require(try Reading(gzip(Array(Self.bytes.dropLast(3)))).error)
        #expect(error.code == .truncated)
        #expect(error.offset == Int64(Self.bytes.count - 3))
        #expect(error.documents == 1_999)
    }

    @Test func aChecksumThatDiffersIsReportedAndNothingIsVouchedFor() throws {
        var bytes = gzip(Self.bytes)
        bytes[bytes.count - 8] ^= 1
        let error = try #require(try Reading(bytes).error)
        #expect(error.code == .wrongGzipChecksum)
        #expect(error.description.hasSuffix("; 2000 documents before it are unreliable, too"))
    }

    @Test func aDocumentThatBeginsLikeGzipIsRead() throws {
        let document: BSONDocument = ["b": .binary(subtype: 0, bytes: Array(repeating: 1, count: 559_903 - 13))]
        #expect(document.bytes.starts(with: [0x1F, 0x8B, 8, 0]))
        #expect(try Reading(document.bytes + Self.bytes).documents == [document] + Self.documents)
    }
}
