import BSON
import Mongo
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("E11000 index: a_1 dup key: { a: \"x } y\", b: { c: 1 } } end", "E11000 index: a_1 dup key: {…}"),
        (#"E11000 dup key: { a: "x\"} SECRET {" }"#, "E11000 dup key: {…}"),
        (#"E11000 dup key: { a: "say "SECRET" }{" }"#, "E11000 dup key: {…}"),
        ("Size must be up to 16MB First element: email: 5", "Size must be up to 16MB First element: {…}"),
        ("bad value \"secret\" for 'field'", "bad value \"…\" for 'field'"),
        (#"bad value "sec"SECRET"ret" for 'field'"#, "bad value \"…\" for 'field'"),
        (#"no field 'b' in element {a: "x }SECRET{ y"}, sorry"#, "no field 'b' in element {…}, sorry"),
        (
            "not authorized on a to execute command { find: \"b\", x: 1 }",
            "not authorized on a to execute command find {…}"
        ),
        ("open { a: 1", "open {…}"), ("open \"never closed", "open \"…\""), ("plain } text", "plain } text"),
    ])
    func serverMessagesLoseWhatTheyQuote(message: String, shown: String) {
        #expect(MongoError(.server, .badValue, message: message).message == shown)
    }

    @Test func theDescriptionNamesCodeAndHost() {
        let error = MongoError(.server, .unauthorized, message: "no", codeName: "Unauthorized", host: "h:1")
        #expect("\(error)" == "no (Unauthorized, code 13) [h:1]")
    }

    @Test func aConnectionStringIsShownWithoutItsSecrets() throws {
        let uri = try MongoURI.parse("mongodb://ada:s3cret@a:1,b:2/app?tlsCertificateKeyFilePassword=hush&tls=true")
        #expect(uri.redacted == "mongodb://ada:***@a:1,b:2/app")
        #expect(uri.hosts == ["a:1", "b:2"])
        #expect(uri.database == "app")
    }

    @Test func optionsDoNotShowThePassword() {
        var options = ConnectionOptions(uri: "mongodb://ada:s3cret@a:1/")
        options.password = "an0ther"
        var dumped = ""
        dump(options, to: &dumped)
        for text in [dumped, "\(options)", String(reflecting: options)] {
            #expect(!text.contains("s3cret") && !text.contains("an0ther"))
        }
    }

    @Test(arguments: [
        "http://ada:s3cret@host", "ada:s3cret@host", "mongodb://ada:s3cret@host:notaport/", "mongodb://ada:s3cret@/",
        "mongodb://ada:s3c%zzret@host/", "mongodb://ada:p@s3cret@host/", "mongodb://ada:p/s3cret@host/",
        "mongodb://ada:p?s3cret@host/", "mongodb://ada:s3cret@host/?w=-9", "mongodb://ada:s3c:ret@host/?tls=perhaps",
        "mongodb://host/?tlsCertificateKeyFilePassword=s3cret&w=-9",
    ])
    func aMalformedConnectionStringIsRefusedWithoutItsSecrets(text: String) throws {
        let error = try #require(throws: MongoError.self) { _ = try MongoURI.parse(text) }
        #expect(error.code == .invalidArgument)
        #expect(!"\(error)".contains("s3c"))
        #expect("\(error)".hasPrefix("the connection string is not valid: "))
    }
}
