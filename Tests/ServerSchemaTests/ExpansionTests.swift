import ServerSchema
import Testing

/// Tests that `%(%%environment.values.KEY)` in the files of an app is replaced by the environment's value.
@Suite struct ExpansionTests {
    private static let schema = "data_sources/main/shop/Pet/schema.json"

    private func app(title: String, environment: String? = nil, _ files: [String: String] = [:]) throws -> AppFolder {
        var all = files
        all[Self.schema] = #"{"title": "\#(title)", "properties": {"_id": {"bsonType": "int"}}}"#
        all["root_config.json"] = #"{"name": "app", "environment": "\#(environment ?? "")"}"#
        return try AppFolder(all)
    }

    private func title(_ app: AppFolder) throws -> String? { try app.read().collections[0].root.title }

    @Test func theRootConfigurationNamesTheEnvironment() throws {
        let files = [
            "environments/testing.json": #"{"values": {"t": "Testing", "deep": {"t": "Deep"}, "a.b": "Dotted"}}"#,
            "environments/no-environment.json": #"{"values": {"t": "None"}}"#,
        ]
        #expect(try title(app(title: "%(%%environment.values.t)", environment: "testing", files)) == "Testing")
        #expect(try title(app(title: "%(%%environment.values.t)", files)) == "None")
        #expect(
            try title(
                app(
                    title: "a %(%%environment.values.t)-%(%%environment.values.deep.t) z", environment: "testing", files
                ))
                == "a Testing-Deep z")
        #expect(try title(app(title: "%(%%environment.values.a.b)", environment: "testing", files)) == "Dotted")
        let used = try app(title: "%(%%environment.values.t)", files).read().sources.map(\.path)
        #expect(used == [Self.schema, "environments/no-environment.json", "root_config.json"])
    }

    @Test(arguments: ["%%environment.values.t", "%(%%user.id)", "100%(about)"])
    func otherTextsStay(_ text: String) throws { #expect(try title(app(title: text)) == text) }

    @Test(arguments: [
        (
            "%(%%environment.values.t)",
            #"the environment value "t" is not defined (there is no environments/qa.json)"#, nil
        ),
        (
            "%(%%environment.values.titel)",
            #"the environment value "titel" is not defined in environments/qa.json (did you mean "title"?)"#,
            #"{"values": {"title": "A"}}"#
        ),
        (
            "%(%%environment.values.t)",
            #"the environment value "t" is not defined in environments/qa.json (define it there)"#,
            #"{"values": {}}"#
        ),
        (
            "%(%%environment.values.t)",
            #"the environment value "t" is a number, and only text can be used "#
                + "(it is defined at environments/qa.json:1:18)",
            #"{"values": {"t": 5}}"#
        ),
        (
            "%(%%environment.values.t",
            "the expansion in this text is not closed (write the missing ))", #"{"values": {"t": "5"}}"#
        ),
    ]) func unresolvedValuesAreNamed(_ text: String, _ error: String, _ environment: String?) throws {
        let files = environment.map { ["environments/qa.json": $0] } ?? [:]
        #expect(try app(title: text, environment: "qa", files).failure() == "\(Self.schema):1:11: \(error)")
    }

    @Test func aPartOfAnAppDoesNotKnowTheValues() throws {
        let app = try app(title: "%(%%environment.values.t)")
        let error = #expect(throws: SchemaError.self) { try ServerSchema.read(at: "\(app.path)/data_sources") }
        #expect(
            error.map { app.below($0.description) }
                == #"\#(Self.schema):1:11: the environment value "t" is not known without the app's configuration "#
                + "(give the app's folder)")
    }
}
