import BSON
import DumpWriter
import Testing

/// Tests that damage to a dump's bytes never causes a crash, and that the reader reports every loss of documents.
///
/// There are two losses that the reader cannot notice. A file of only BSON documents or JSON lines has no end marker,
/// so it may be cut off between two documents. A source that is cut to zero bytes is valid and has no documents.
@Suite struct HostileDumpTests {
    private static let person = Namespace(database: "app", collection: "person")
    private static let documents: [BSONDocument] = (0..<12).map { number in
        ["_id": .integer(number), "name": .string("n\(number * 7_919)"), "in": ["list": [1, nil, true]]]
    }
    private static let bson = documents.flatMap(\.bytes)
    private static let archive = ArchiveWriter.interleaved([(person, documents)], block: 5)

    private static func json(_ separator: String, _ ends: (String, String)) throws -> [UInt8] {
        Array((ends.0 + (try documents.map { try $0.extendedJSON() }.joined(separator: separator)) + ends.1).utf8)
    }

    private func reading(_ bytes: [UInt8]) throws -> Reading {
        try Reading(bytes, wanted: [Self.person], bufferSize: 64)
    }

    /// Reads every prefix of the bytes, and returns the lengths of the prefixes that are read without an error.
    private func silentCuts(_ bytes: [UInt8]) throws -> [Int] {
        #expect(try reading(bytes) == Reading(bytes, wanted: [Self.person]))
        #expect(try reading(bytes).documents == Self.documents)
        return try bytes.indices.filter { cut in
            let result = try reading(Array(bytes[..<cut]))
            #expect(Self.documents.starts(with: result.documents))
            return result.error == nil
        }
    }

    @Test func aSourceThatHasAnEndIsNeverCutInSilence() throws {
        // An empty file is valid, and has no documents.
        #expect(try silentCuts(Self.archive) == [0])
        #expect(try silentCuts(gzip(Self.archive)) == [0])
        #expect(try silentCuts(gzip(Self.bson)) == [0])
        #expect(try silentCuts(gzip(Self.json("\n", ("", "\n")))) == [0])
        #expect(try silentCuts(Self.json(",", ("[", "]"))) == [0])
    }

    /// A file that holds only BSON documents or JSON lines has no end marker, so the reader does not notice a cut
    /// between two documents.
    ///
    /// The reader notices a cut within a document.
    @Test func documentsAloneAreCutInSilenceOnlyBetweenTwo() throws {
        let sizes = Self.documents.map(\.bytes.count)
        #expect(try silentCuts(Self.bson) == sizes.indices.map { sizes[..<$0].reduce(0, +) })
        let lines = try Self.json("\n", ("", "\n"))
        let breaks = lines.indices.filter { lines[$0] == 0x0A }
        #expect(try silentCuts(lines) == [0] + breaks.flatMap { [$0, $0 + 1] }.dropLast())
    }

    @Test func aFlippedBitOfAnArchiveLosesNothingInSilence() throws {
        for bytes in [Self.archive, gzip(Self.archive)] { try flipEach(bytes) }
    }

    @Test func aFlippedBitOfGzipLosesNothingInSilence() throws { try flipEach(gzip(Self.bson)) }

    private func flipEach(_ bytes: [UInt8]) throws {
        // The number of the flipped bit changes from byte to byte, so that each of the eight bits is flipped in some
        // bytes.
        for index in bytes.indices {
            var flipped = bytes
            flipped[index] ^= 1 << (index % 8)
            let result = try reading(flipped)
            #expect(result.error != nil || result.documents == Self.documents, "byte \(index)")
        }
    }

    /// In a file without a checksum, a flipped bit may change a value, but it never causes a crash or an unreported
    /// loss of documents.
    @Test func aFlippedBitOfDocumentsAloneIsNoCrash() throws {
        for bytes in [Self.bson, try Self.json("\n", ("", "\n")), try Self.json(",", ("[", "]"))] {
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1 << (index % 8)
                let result = try reading(flipped)
                #expect(result.error != nil || result.documents.count == Self.documents.count, "byte \(index)")
            }
        }
    }
}
