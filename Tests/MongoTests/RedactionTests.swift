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

    /// Messages of mongod 6.0 in which an expression quotes a document's value, and the same messages without the
    /// value.
    @Test(arguments: [
        ("unknown time unit value: SECRET", "unknown time unit value: …"),
        (
            "$dateDiff parameter 'unit' value cannot be recognized as a time unit: SECRET",
            "$dateDiff parameter 'unit' value cannot be recognized as a time unit: …"
        ),
        (
            "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '-7.5' of type double",
            "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '…' of type double"
        ),
        (
            "$log10's argument must be a positive number, but is -7.77531",
            "$log10's argument must be a positive number, but is -#"
        ),
        (
            "$substrCP: length cannot be represented as a 32-bit integral value: 5.5",
            "$substrCP: length cannot be represented as a 32-bit integral value: …"
        ),
        ("can't $subtract date from string", "can't $subtract date from string"),
        (
            "$ltrim requires its input to be a string, got true (of type bool) instead.",
            "$ltrim requires its input to be a string, got # (of type bool) instead."
        ),
        ("Invalid format character '%' SECRET 'S' in format string", "Invalid format character '…' in format string"),
        ("$zip found a non-array expression in input: \"SECRET\"", "$zip found a non-array expression in input: …"),
    ])
    func theValueThatAnOperatorFailedAtIsNotShown(cause: String, shown: String) {
        for context in [
            "PlanExecutor error during aggregation", "Plan executor error during update",
            "Executor error during getMore",
        ] {
            let start = "\(context) :: caused by ::"
            #expect(MongoError(.server, .failedToParse, message: "\(start) \(cause)").message == "\(start) \(shown)")
        }
    }

    /// A quoted value is hidden completely, even if it contains words of the message around it.
    ///
    /// The same function hides values in the reasons of the ledger.
    @Test(arguments: [
        (
            "Failed to parse number 'SECRET :: caused by :: SECRET' in $convert",
            "Failed to parse number '…' in $convert"
        ),
        ("a SECRE :: caused by :: bad unit: SECRET", "a SECRE :: caused by :: bad unit: …"),
        ("bad unit: SECRET :: caused by :: SECRET: 7", "bad unit: …"),
        ("invalid schema", "invalid schema"), ("field \"name\" is \"SECRET\" (12345)", "field \"…\" (#)"),
        ("could not convert: SECRET", "could not convert: …"), ("'SECRET' is 1.5E3 at 2026-11-22", "'…' is # at #"),
    ])
    func aTextAboutAValueIsCutInOneWay(text: String, shown: String) {
        #expect(Redaction.valueMessage(text) == shown)
        let start = "PlanExecutor error during aggregation :: caused by ::"
        #expect(MongoError(.server, .failedToParse, message: "\(start) \(text)").message == "\(start) \(shown)")
    }

    @Test(arguments: [
        (#"{ find: "b", filter: { a: "c" } }"#, ["find"], "a.b"), (#"{ delete: "b c", x: 1 }"#, ["remove"], "a.b c"),
        (#"{ explain: { find: "b" }, x: 1 }"#, ["find"], "a.b"),
        ("{ listCollections: 1 }", ["listCollections"], "the database a"),
        (#"{ getMore: 5, collection: "b" }"#, ["find"], "a.b"),
        ("{ serverStatus: 1 }", ["serverStatus"], "the cluster"),
    ])
    func theMissingPrivilegeIsReported(command: String, actions: [String], resource: String) {
        let error = MongoError(.server, .unauthorized, message: "not authorized on a to execute command \(command)")
        #expect(error.missingPrivilege?.actions == actions)
        #expect(error.missingPrivilege?.resource == resource)
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
