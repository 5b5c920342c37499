import BSON
import Jobs
import JobsSupport
import Testing

/// Lists of `_id`s, in the forms that programs write.
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
            "ids.jsonl:1:1: the _ids of this file are hidden: write it with --ids show"
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
}
