import BSON
import DumpWriter
import Testing

/// Tests that extended JSON is read document by document, in every format that mongoexport writes.
@Suite struct JSONFileReaderTests {
    private static let documents: [BSONDocument] = (0..<40).map { number in
        ["_id": .integer(number), "long": .long(Int64(number)), "text": "a\"}]\\\n", "list": [1, ["x": 2.5], nil]]
    }

    private static func lines() throws -> String { try documents.map { try $0.extendedJSON() + "\n" }.joined() }

    private func error(_ text: String) throws -> DumpError {
        try #require(try Reading(Array(text.utf8)).error)
    }

    @Test(arguments: [5, 64, 1 << 20]) func linesAndArraysGiveTheSameDocuments(_ bufferSize: Int) throws {
        let objects = try Self.documents.map { try $0.extendedJSON() }
        let array = "[" + objects.joined(separator: ",") + "]\n"
        let pretty = "[\n\t" + objects.joined(separator: ",\n\t").replacing("{", with: "{\n\t\t") + "\n]\n"
        for text in [
            try Self.lines(), array, pretty, objects.joined(separator: "\r\n\r\n"), "\u{FEFF}" + array, "\n \n" + array,
        ] {
            let result = try Reading(Array(text.utf8), bufferSize: bufferSize)
            #expect(result.error == nil)
            #expect(result.documents == Self.documents)
        }
        #expect(try Reading(gzip(Array(array.utf8)), bufferSize: bufferSize).documents == Self.documents)
    }

    @Test(arguments: ["[]", "[ ]\n", "\n", " \n\n", "\u{FEFF}"]) func anExportOfNothingHoldsNothing(_ text: String)
        throws
    {
        let result = try Reading(Array(text.utf8))
        #expect(try kind(of: Array(text.utf8)) == .json)
        #expect(result.error == nil && result.documents.isEmpty)
    }

    @Test func repeatedNamesAreKept() throws {
        let document = try #require(try Reading(Array(#"{"a": 1, "a": "x"}"#.utf8)).documents.first)
        #expect(try document.elements().map(\.value) == [1, "x"])
    }

    @Test func valuesOfMongoexportAreRead() throws {
        let text =
            #"{"u":{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"},"d":{"$date":"2020-01-01T00:00:00Z"},"n":1.0}"#
        let bytes: [UInt8] = [0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255]
        let expected: BSONDocument = [
            "u": .binary(subtype: 4, bytes: bytes), "d": .date(milliseconds: 1_577_836_800_000), "n": 1.0,
        ]
        #expect(try Reading(Array(text.utf8)).documents == [expected])
    }

    @Test(arguments: [
        (#"{"n":1}"#, true), (#"{"n":[-1]}"#, true), (#"{"n":true,"m":3}"#, true), (#"{"n":1.5,"m":7}"#, true),
        (#"{"n":{"$numberInt":"1"},"t":{"$timestamp":{"t":1,"i":2}}}"#, false), (#"{"n":1.5}"#, false),
        (#"{"n":1e5}"#, false), (#"{"n":"5","m":null,"k":{"$minKey":1}}"#, false), (#"{"n 5":false}"#, false),
        (#"{"t":1}"#, true), (#"{"i":[1]}"#, true), (#"{"a":{"i":7}}"#, true), (#"{"a":["$timestamp",{"t":1}]}"#, true),
        (#"{"t":{"$timestamp":{"t":1,"i":2}},"i":3}"#, true), (#"{"a":{"$prices":3}}"#, true),
        (#"{"t":{"$timestamp": {"i":2, "t":1}},"k":[{"$maxKey":1}]}"#, false),
    ]) func anExportThatDoesNotDistinguishIntFromLongIsDetected(_ text: String, _ isSeen: Bool) throws {
        let file = try TemporaryFile(Array(text.utf8))
        var reader = JSONFileReader(try DumpInput(file.path))
        #expect(try reader.next() != nil)
        #expect(reader.sawPlainInteger == isSeen)
    }

    @Test func damageIsNamedWithByteAndLine() throws {
        let good = try Self.lines()
        let wrong = try error(good + "\n" + #"{"a": secret}"# + "\n")
        #expect(wrong.code == .damaged && wrong.documents == 40)
        #expect(wrong.offset == Int64(good.utf8.count + 1) && wrong.line == 42)
        #expect(
            wrong.description == "\(wrong.path) is damaged at byte \(wrong.offset), line 42 "
                + "(special expected at position 6); 40 documents before it are good")
        let cut = try error(String(good.dropLast(4)))
        #expect(cut.code == .truncated && cut.documents == 39 && cut.line == 40)
        #expect(cut.offset == Int64(good.utf8.count - 4))
    }

    @Test(arguments: [
        (#"[{"a":1}"#, DumpError.Code.unfinished), (#"[{"a":1},"#, .unfinished), ("[", .unfinished),
        (#"[{"a":1}{"a":2}]"#, .damaged), (#"[{"a":1},]"#, .damaged), (#"[,{"a":1}]"#, .damaged),
        (#"[{"a":1}] {"a":2}"#, .damaged), (#"{"a":1},{"a":2}"#, .damaged), (#"{"a":1} 7"#, .damaged),
        (#"[{"a":1},7]"#, .damaged), (#"{"a":"x"#, .truncated), (#"{"a":]"#, .damaged), (#"{"a":1]"#, .damaged),
        (#"[[{"a":1}]]"#, .damaged), ("{'a':1}", .damaged),
    ]) func aFileThatIsNoExportIsRefused(_ text: String, _ code: DumpError.Code) throws {
        #expect(try error(text).code == code)
    }
}
