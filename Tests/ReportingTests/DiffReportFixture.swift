import BSON
import SchemaChange
import ServerSchema

/// Reports of schema changes, for the tests of output formats.
enum DiffFixture {
    private static let people = Namespace(database: "app", collection: "Person")

    private static func schema(_ file: String, _ properties: String, required: String = "") throws -> ServerSchema {
        let id = #""_id": {"bsonType": "int"}"#
        let text = "{\"title\": \"Person\", \"required\": [\(required)],\n\"properties\": {\(id), \(properties)}}"
        return try ServerSchema.read(text: text, file: file, namespace: people)
    }

    /// Returns a report with a breaking change of a type, an additive change, and a removal and an addition.
    ///
    /// The removal and the addition look like a rename.
    static func report(weighed: Bool = false) throws -> DiffReport {
        let old = try schema("v1.json", #""age": {"bsonType": "int"}, "n": {"bsonType": "string"}"#)
        let new = try schema(
            "v2.json", #""n": {"bsonType": "int"}, "years": {"bsonType": "int"}, "z": {"bsonType": "date"}"#,
            required: #""z""#)
        var report = DiffReport(
            old: "v1", new: "v2", dialect: .appServices, changes: SchemaDiff.changes(from: old, to: new))
        guard weighed else { return report }
        report.source = "mongodb://host/"
        report.weights = [
            ChangeWeight(documents: 4_100_000, withField: 0, withoutField: 4_100_000, types: []),
            ChangeWeight(
                documents: 4_100_000, withField: 12, withoutField: 4_099_990,
                types: [.init(type: "string", documents: 9), .init(type: "null", documents: 2)]),
            ChangeWeight(documents: 4_100_000, withField: 0, withoutField: 4_100_000, types: []),
            ChangeWeight(documents: 4_100_000, withField: 4_099_999, withoutField: 1, types: []),
        ]
        return report
    }

    /// Returns a report with names and paths that every output format has to escape.
    static func nasty() throws -> DiffReport {
        let name = #"a|b<c>&\"d%,:`e\r\n"#
        let old = try schema("dir,a:b%/v1.json", "\"x\": {\"bsonType\": \"int\"}")
        let new = try schema("dir,a:b%/v1.json", "\"x\": {\"bsonType\": \"int\"}, \"\(name)\": {\"bsonType\": \"int\"}")
        return DiffReport(
            old: "<old> & 'v1'", new: "v2\u{1}", dialect: .appServices, changes: SchemaDiff.changes(from: old, to: new))
    }
}
