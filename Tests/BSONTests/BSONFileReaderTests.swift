import BSON
import SystemPackage
import Testing

@Suite struct BSONFileReaderTests {
    static let documents: [BSONDocument] = (0..<50).map { index in
        ["_id": .integer(index), "text": .string(String(repeating: "x", count: index * 7 % 90))]
    }
    static let bytes = documents.flatMap(\.bytes)

    /// Reads a file with these bytes.
    ///
    /// Returns all documents or, if there was an error, the documents before the error together with the error.
    static func read(
        _ bytes: [UInt8], validating: Bool = false, bufferSize: Int = 64
    ) throws -> (documents: [BSONDocument], error: DumpError?) {
        let file = try TemporaryFile(bytes)
        var documents: [BSONDocument] = []
        do {
            var reader = try BSONFileReader(file.path, validating: validating, bufferSize: bufferSize)
            while let view = try reader.next() { documents.append(BSONDocument(copying: view)) }
            return (documents, nil)
        } catch {
            #expect(error.path == file.path)
            return (documents, error)
        }
    }

    @Test(arguments: [1, 4, 64, 100, 5000, 1 << 20]) func everyDocumentComesWhateverTheBuffer(_ size: Int) throws {
        let result = try Self.read(Self.bytes, validating: true, bufferSize: size)
        #expect(result.error == nil)
        #expect(result.documents == Self.documents)
    }

    /// Reads a file block by block, and validates each document, because the block reader does not.
    private static func readBlocks(_ bytes: [UInt8], bufferSize: Int) throws -> ([BSONDocument], DumpError?) {
        let file = try TemporaryFile(bytes)
        var (documents, block): ([BSONDocument], [UInt8]) = ([], [])
        do {
            var reader = try BSONFileReader(file.path, bufferSize: bufferSize)
            while true {
                var (offset, count) = (reader.bytesRead, reader.documents)
                guard let range = try reader.next(exchanging: &block) else { return (documents, nil) }
                #expect(reader.bytesRead == offset + Int64(range.count))
                var rest = block[range]
                while !rest.isEmpty {
                    let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
                    do throws(BSONError) {
                        let document = try BSONDocument(bytes: Array(rest.prefix(length)))
                        try document.view.validate()
                        documents.append(document)
                    } catch {
                        let reported = DumpError(error, path: file.path, documentOffset: offset, documents: count)
                        return (documents, reported)
                    }
                    (offset, count) = (offset + Int64(length), count + 1)
                    rest = rest.dropFirst(length)
                }
                #expect(reader.documents == count)
            }
        } catch { return (documents, error) }
    }

    @Test(arguments: [1, 4, 64, 100, 5000]) func blocksAreWhatTheDocumentsAre(_ size: Int) throws {
        func expectSame(_ bytes: [UInt8]) throws {
            let one = try Self.read(bytes, validating: true, bufferSize: size)
            let blocks = try Self.readBlocks(bytes, bufferSize: size)
            #expect(blocks.0 == one.documents)
            let (reported, expected) = (blocks.1, one.error)
            #expect(reported?.code == expected?.code && reported?.damage == expected?.damage)
            #expect(reported?.offset == expected?.offset && reported?.documents == expected?.documents)
        }
        let bytes = Array(Self.bytes.prefix(1_500))
        for cut in bytes.indices { try expectSame(Array(bytes[..<cut])) }
        for index in bytes.indices {
            var flipped = bytes
            flipped[index] ^= 1 << (index % 8)
            try expectSame(flipped)
        }
        try expectSame(Self.bytes)
    }

    @Test func anEmptyFileHasNoDocuments() throws {
        let result = try Self.read([])
        #expect(result.error == nil && result.documents.isEmpty)
    }

    @Test func progressIsReportedInBytes() throws {
        let file = try TemporaryFile(Self.bytes)
        var reader = try BSONFileReader(file.path)
        #expect(reader.fileSize == Int64(Self.bytes.count))
        #expect(reader.bytesRead == 0)
        var sum: Int64 = 0
        while let size = try reader.next()?.byteCount {
            #expect(reader.documentOffset == sum)
            sum += Int64(size)
            #expect(reader.bytesRead == sum)
        }
        #expect(reader.documents == Self.documents.count)
        #expect(sum == reader.fileSize)
    }

    @Test func aTruncatedFileSaysWhereItEnds() throws {
        for cut in [1, 3, 4, 5, 20] {
            let good = Self.documents[..<2].flatMap(\.bytes)
            let bytes = good + Self.documents[2].bytes.prefix(cut)
            let result = try Self.read(bytes)
            #expect(result.documents == Array(Self.documents[..<2]))
            #expect(result.error?.code == .truncated)
            #expect(result.error?.offset == Int64(bytes.count))
            #expect(result.error?.documents == 2)
        }
    }

    @Test func aDamagedDocumentIsNamedWithItsByte() throws {
        let good = Self.documents[0].bytes
        let noTerminator: [UInt8] = [5, 0, 0, 0, 9]
        #expect(try Self.read(good + noTerminator).error?.offset == Int64(good.count + 4))
        #expect(try Self.read(good + int32(4) + [0]).error?.damage == BSONError(.invalidLength, at: 0))
        #expect(try Self.read(good + int32(-1) + [0]).error?.code == .damaged)
        #expect(try Self.read(good + int32(20 << 20) + [0]).error?.code == .tooLarge)
    }

    @Test func validatingReadsInside() throws {
        let bad = raw(element(0x08, "b", [2]))
        let bytes = Self.documents[0].bytes + bad + Self.documents[1].bytes
        #expect(try Self.read(bytes).documents.count == 3)
        let result = try Self.read(bytes, validating: true)
        let error = try #require(result.error)
        #expect(result.documents.count == 1)
        #expect(error.code == .damaged && error.documents == 1)
        #expect(error.offset == Int64(Self.documents[0].bytes.count + 7))
        #expect(error.damage == BSONError(.invalidBool, at: 7))
        #expect(
            error.description
                == "\(error.path) is damaged at byte \(error.offset) (invalid bool); the document before it is good")
    }

    @Test func damageThatTheCallerMeetsIsPlacedInTheFile() throws {
        let file = try TemporaryFile(Self.documents[0].bytes + raw(element(0x55)))
        var reader = try BSONFileReader(file.path)
        _ = try reader.next()
        let found = Result { () throws -> Int in
            let view = try reader.next()
            var position = view?.firstPosition ?? 0
            return try view?.next(&position)?.nameOffset ?? 0
        }
        guard case .failure(let damage as BSONError) = found else {
            Issue.record("the damage was not seen")
            return
        }
        let error = reader.failure(damage)
        #expect(error.offset == Int64(Self.documents[0].bytes.count + 7))
        #expect(error.documents == 1)
    }

    @Test func theSameErrorComesAgain() throws {
        let file = try TemporaryFile(Self.documents[0].bytes + [9, 0])
        var reader = try BSONFileReader(file.path)
        _ = try reader.next()
        for _ in 0..<2 {
            let result = Result { () throws -> Bool in try reader.next() == nil }
            guard case .failure(let error as DumpError) = result else {
                Issue.record("no error")
                return
            }
            #expect(error.code == .truncated && error.documents == 1)
        }
    }

    @Test func largeDocumentsGrowTheBuffer() throws {
        let limit = BSONFileReader.maximumDocumentSize
        let largest: BSONDocument = ["b": .binary(subtype: 0, bytes: Array(repeating: 1, count: limit - 13))]
        #expect(largest.bytes.count == limit)
        #expect(try Self.read(largest.bytes + Self.documents[0].bytes).documents.count == 2)
        let larger: BSONDocument = ["b": .binary(subtype: 0, bytes: Array(repeating: 1, count: limit - 12))]
        #expect(try Self.read(larger.bytes).error?.code == .tooLarge)
    }

    @Test func aDocumentThatBeginsLikeGzipIsRead() throws {
        let count = 0x0008_8B1F
        let document: BSONDocument = ["b": .binary(subtype: 0, bytes: Array(repeating: 1, count: count - 13))]
        #expect(document.bytes.starts(with: [0x1F, 0x8B, 8, 0]))
        #expect(try Self.read(document.bytes).documents == [document])
    }

    @Test func anArchiveIsNoFileOfDocuments() throws {
        let error = try #require(try Self.read([0x6D, 0xE2, 0x99, 0x81, 9, 9, 9, 9]).error)
        #expect(error.code == .archive)
        #expect(error.description == "\(error.path) is a mongodump archive")
    }

    @Test(arguments: ["/nowhere/at/all.bson", "/"]) func aReadErrorOfTheSystemIsItsOwnError(_ path: String) {
        let error = #expect(throws: DumpError.self) {
            var reader = try BSONFileReader(FilePath(path))
            _ = try reader.next()?.byteCount
        }
        #expect(error?.code == .unreadable)
        #expect(error?.errno == (path == "/" ? .isDirectory : .noSuchFileOrDirectory))
    }
}
