import BSON
import ServerSchema

/// Helpers for tests of lint, which return findings as short texts of the form `code level path`.
enum Lint {
    /// Returns a schema of `shop.Pet`, which is valid unless an argument makes it invalid.
    static func pet(
        _ properties: String = "", required: [String] = [], id: String = #"{"bsonType": "objectId"}"#,
        title: String = "Pet", more: String = ""
    ) -> String {
        let names = (["_id"] + required).map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            {"title": "\(title)", "bsonType": "object", "required": [\(names)], \(more)
             "properties": {"_id": \(id)\(properties.isEmpty ? "" : ", ")\(properties)}}
            """
    }

    static func schema(_ text: String) throws(SchemaError) -> ServerSchema {
        try ServerSchema.read(text: text, file: "s", namespace: pets)
    }

    static func codes(_ text: String) throws(SchemaError) -> [String] {
        short(SchemaLint.findings(in: try schema(text)))
    }

    static func short(_ findings: [LintFinding]) -> [String] {
        findings.map { "\($0.code) \($0.level.rawValue) \($0.path)" }
    }
}

extension AppFolder {
    /// Returns the findings of lint on the folder, each as `code level path`.
    func codes() throws -> [String] { Lint.short(SchemaLint.findings(in: try readForLint())) }

    /// Returns the findings with one code, with paths relative to the folder.
    func findings(_ code: LintFinding.Code) throws -> [String] {
        SchemaLint.findings(in: try readForLint()).filter { $0.code == code }.map { below($0.description) }
    }
}

/// Properties that break a lint rule, and similar properties that do not break it.
struct LintCase: Sendable, CustomStringConvertible {
    var bad: String
    var badRequired: [String] = []
    var good: String
    var goodRequired: [String] = []
    var finding: String

    var description: String { finding }

    /// Creates a case.
    /// - Parameter required: the names of the required properties; `goodRequired` replaces them for `good`.
    init(_ finding: String, _ bad: String, good: String, required: [String] = [], goodRequired: [String]? = nil) {
        self.finding = finding
        self.bad = bad
        self.good = good
        badRequired = required
        self.goodRequired = goodRequired ?? required
    }
}
