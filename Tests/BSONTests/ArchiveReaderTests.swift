import BSON
import DumpWriter
import Testing

/// Tests that archives are read block by block, and that only complete archives are accepted.
@Suite struct ArchiveReaderTests {
    private static let person = Namespace(database: "app", collection: "person")
    private static let dog = Namespace(database: "other", collection: "dog")
    private static let people: [BSONDocument] = (0..<30).map { ["_id": .integer($0), "name": "Ada"] }
    private static let dogs: [BSONDocument] = (0..<7).map { ["_id": .integer($0)] }

    private static func archive(_ types: [Namespace: String] = [:]) -> [UInt8] {
        ArchiveWriter.interleaved([(person, people), (dog, dogs)], block: 4, types: types)
    }

    private func code(_ writer: ArchiveWriter) throws -> DumpError.Code? {
        try Reading(writer.bytes, wanted: [Self.person]).error?.code
    }

    @Test(arguments: [5, 100, 1 << 20]) func eachDocumentComesWithItsCollection(_ bufferSize: Int) throws {
        let file = try TemporaryFile(Self.archive())
        var reader = try ArchiveReader(
            DumpInput(file.path, bufferSize: bufferSize), wanted: [Self.dog, Self.person], validating: true)
        #expect(reader.prelude.collections.map(\.namespace) == [Self.person, Self.dog])
        #expect(reader.prelude.serverVersion == "6.0.5" && reader.prelude.toolVersion == "100.9.4")
        var found: [[BSONDocument]] = [[], []]
        while let index = try reader.next() { found[index].append(BSONDocument(copying: reader.document)) }
        #expect(found == [Self.dogs, Self.people])
        #expect(reader.documents == 37)
        #expect(reader.namespaces == [Self.person, Self.dog])
    }

    @Test func otherCollectionsArePassedOver() throws {
        #expect(try Reading(Self.archive(), wanted: [Self.dog]).documents == Self.dogs)
        #expect(try Reading(gzip(Self.archive()), wanted: [Self.person]).documents == Self.people)
        #expect(try Reading(Self.archive(), wanted: []) == Reading([]))
    }

    /// The reader keeps the names of an archive's collections in memory, so it refuses names that no server allows.
    ///
    /// Otherwise, a few gzipped bytes could contain a name of any length.
    @Test func aNameThatNoServerHasIsRefused() throws {
        let long = Namespace(database: "app", collection: String(repeating: "x", count: 2_000))
        let error = try #require(try Reading(ArchiveWriter([long]).bytes, wanted: [Self.person]).error)
        #expect(error.code == .invalidArchive)
        #expect(error.description.contains("a collection's name is too long"))
    }

    @Test func theChecksumIsThatOfTheDefinition() throws {
        #expect(ArchiveWriter.checksum(Array("123456789".utf8)) == 0x995D_C9BB_DF19_39FA)
        // The reader computes the checksum of several bytes at once, so the test tries 40 consecutive lengths.
        for count in 0..<40 {
            let document: BSONDocument = ["b": .binary(subtype: 0, bytes: (0..<UInt8(count)).map { $0 &* 37 })]
            var writer = ArchiveWriter([Self.person])
            writer.write([document], of: Self.person)
            writer.close(Self.person)
            #expect(try Reading(writer.bytes, wanted: [Self.person]).error == nil)
        }
    }

    @Test func documentsThatWereChangedAreNotBelieved() throws {
        var bytes = Self.archive()
        let name = try #require(bytes.indices.first { bytes[$0...].starts(with: "Ada".utf8) })
        bytes[name] = UInt8(ascii: "I")
        let error = try #require(try Reading(bytes, wanted: [Self.person]).error)
        #expect(error.code == .wrongChecksum)
        #expect(error.description.contains("(the checksum of app.person differs)"))
        #expect(try Reading(bytes, wanted: [Self.dog]).error == nil)
    }

    @Test func aCollectionWithoutAnEndIsNotWhole() throws {
        var writer = ArchiveWriter([Self.person, Self.dog])
        #expect(try code(writer) == .unfinished)
        writer.write(Self.people, of: Self.person)
        #expect(try code(writer) == .unfinished)
        writer.close(Self.person)
        #expect(try Reading(writer.bytes, wanted: [Self.person]).error?.detail == "other.dog has no end")
        writer.close(Self.dog)
        #expect(try code(writer) == nil)
        writer.close(Self.dog)
        #expect(try code(writer) == .invalidArchive)
    }

    @Test func viewsAndTimeSeriesNeedNoEnd() throws {
        let buckets = Namespace(database: "other", collection: "system.buckets.dog")
        for type in ["view", "timeseries"] {
            var writer = ArchiveWriter([Self.person, Self.dog], types: [Self.dog: type])
            writer.write(Self.people, of: Self.person)
            writer.close(Self.person)
            writer.close(buckets)
            #expect(try Reading(writer.bytes, wanted: [Self.person]).documents == Self.people)
        }
    }

    @Test func blocksMustBePutTogetherRightly() throws {
        let terminator = [UInt8](repeating: 0xFF, count: 4)
        let whole = Self.archive()
        #expect(try Reading(whole + terminator, wanted: [Self.dog]).error?.detail == "a block has no header")
        let nameless = BSONDocument([("EOF", .bool(false))]).bytes
        #expect(try Reading(whole + nameless, wanted: []).error?.detail == "a block does not name its collection")
        let trailing = Array(whole.dropLast(4)) + Self.dogs[0].bytes
        #expect(try Reading(trailing).error?.detail == "documents after the end of their collection")
        #expect(try Reading([0x6D, 0xE2, 0x99, 0x81] + terminator).error?.detail == "the header is missing")
    }
}
