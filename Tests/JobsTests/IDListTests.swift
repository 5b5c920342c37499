import BSON
import Foundation
import Jobs
import JobsSupport
import Testing

/// Tests lists of `_id`s in the formats that programs write.
@Suite struct IDListTests {
    private let people = Namespace(database: "app", collection: "Person")

    private func ids(_ text: String) throws -> [BSONValue] {
        try IDList.parse(text, path: "ids.jsonl", for: people).ids
    }

    @Test func plainValuesAreIDs() throws {
        #expect(try ids("5\n\"a\"\n\n {\"$numberLong\": \"7\"} \r\n5\n") == [5, .long(7), "a"])
    }

    @Test func documentsGiveTheirIDs() throws {
        #expect(try ids(#"{"_id": {"a": 1}, "code": 121}"#) == [["a": 1]])
    }

    @Test func aFailuresFileGivesTheFailingDocumentsOfTheCollection() throws {
        let lines = [
            #"{"record":"header","schema_version":1,"command":"check"}"#,
            #"{"record":"failure","database":"app","collection":"Person","_id":1,"violations":[]}"#,
            #"{"record":"failure","database":"app","collection":"Dog","_id":2,"violations":[]}"#,
            #"{"record":"failure","database":"app","collection":"Person","_id":3,"violations":[]}"#,
            #"{"record":"retracted","database":"app","collection":"Person","_id":1}"#,
            #"{"record":"result","dialect":"appservices"}"#,
        ]
        #expect(try ids(lines.joined(separator: "\n")) == [3])
    }

    @Test func aCheckThatBeganAgainMakesVoidAllOfItsCollection() throws {
        let lines = [
            #"{"record":"failure","database":"app","collection":"Person","_id":1,"violations":[]}"#,
            #"{"record":"failure","database":"app","collection":"Person","_id":2,"violations":[]}"#,
            #"{"record":"retracted","database":"app","collection":"Dog"}"#,
            #"{"record":"retracted","database":"app","collection":"Person"}"#,
            #"{"record":"failure","database":"app","collection":"Person","_id":2,"violations":[]}"#,
        ]
        #expect(try ids(lines.joined(separator: "\n")) == [2])
    }

    @Test(arguments: [
        ("1\nx", "ids.jsonl:2:1: not a line of extended JSON"),
        ("{\"name\": 1}", "ids.jsonl:1:1: an object without \"_id\""),
        (#"{"record":"failure","_id":1}"#, "ids.jsonl:1:1: a record without \"database\" and \"collection\""),
        (
            ##"{"record":"failure","database":"app","collection":"Person","_id":"#0123456789abcdef0123"}"##,
            "ids.jsonl:1:1: the _ids of this file are hidden: write it with SHIPSHAPE_IDS=show"
        ),
        (
            #"{"record":"failure","database":"app","collection":"Person","_id":null}"#,
            "ids.jsonl:1:1: the _ids of this file are hidden"
        ),
        (
            #"{"record":"failure","database":"app","collection":"Dog","_id":1}"#,
            "ids.jsonl holds no _id of app.Person; it has some of app.Dog"
        ),
        ("\n", "ids.jsonl holds no _id of app.Person"),
    ])
    func anotherFormIsRefusedWithItsLine(_ text: String, _ message: String) throws {
        let refusal = try #require(Fixture.failure { try ids(text) })
        #expect(refusal.hasPrefix(message), "\(refusal)")
    }

    private func read(_ pieces: some Sequence<String>, within bounds: IDList.Bounds = IDList.Bounds()) throws -> IDList
    {
        let path = NSTemporaryDirectory() + "/ids-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        for piece in pieces { try file.write(contentsOf: Data(piece.utf8)) }
        try file.close()
        return try IDList.read(at: path, for: people, within: bounds)
    }

    private func failures(_ numbers: Range<Int>) -> String {
        numbers.map { number in
            #"{"record":"failure","database":"app","collection":"Person","_id":\#(number),"violations":["#
                + String(repeating: " ", count: 250) + "]}\r\n"
        }.joined()
    }

    /// A list with the `_id`s of more than 100,000 documents is read, although its file is larger than 32 MiB.
    ///
    /// An incident may affect that many documents, and `check --failures` writes about 350 bytes for each.
    @Test func aListOfAnIncidentIsReadWhateverItsFileTakes() throws {
        let blocks = (0..<101).map { failures($0 * 1_000..<$0 * 1_000 + 1_000) }
        #expect(blocks.reduce(0) { $0 + $1.utf8.count } > 32 << 20)
        let ids = try read(blocks + ["{\"_id\": 7}\n\"without an end\""]).ids
        #expect(ids == (0..<101_000).map { .int(Int32($0)) } + ["without an end"])
    }

    @Test func theSizeOfAListIsBounded() throws {
        var bounds = IDList.Bounds()
        (bounds.ids, bounds.bytes, bounds.line) = (10, 1 << 20, 1 << 20)
        let many = try #require(Fixture.failure { try read((1...11).map { "\($0)\n" }, within: bounds) })
        #expect(many.hasSuffix(":11:1: the list has more than 10 _ids: divide it"), "\(many)")
        #expect(try read((1...11).map { "\(min($0, 10))\n" }, within: bounds).ids.count == 10)
        let big = (0..<9).map { "\"\($0)\(String(repeating: "a", count: 1 << 17))\"\n" }
        let large = try #require(Fixture.failure { try read(big, within: bounds) })
        #expect(large.hasSuffix(":8:1: the list has more than 1 MiB of _ids: divide it"), "\(large.suffix(80))")
        let line = "1\n\"\(String(repeating: "a", count: 2 << 20))"
        let long = try #require(Fixture.failure { try read([line], within: bounds) })
        #expect(long.contains(":2:1: the line has more than 1 MiB"), "\(long.suffix(80))")
    }
}
