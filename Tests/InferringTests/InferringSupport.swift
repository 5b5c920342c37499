import BSON
import Checking
import Inferring
import ServerSchema

/// Helpers for small inferences over documents in memory.
enum Case {
    static let namespace = Namespace(database: "app", collection: "Thing")

    /// Returns the options of an inference for a dialect.
    static func options(_ dialect: Dialect = .appServices, cover: Double = 1, enums: Bool = false) -> InferOptions {
        var options = InferOptions()
        options.dialect = dialect
        options.cover = cover
        options.hasEnums = enums
        return options
    }

    static func survey(_ documents: some Sequence<BSONDocument>, _ options: InferOptions) throws -> Survey {
        var survey = Survey(options)
        for document in documents { try survey.add(document.view) }
        return survey
    }

    static func inference(
        of documents: some Sequence<BSONDocument>, _ options: InferOptions = options()
    ) throws -> Inference {
        try Inference(survey(documents, options), of: namespace, options: options)
    }

    /// Checks documents by an inferred schema, and returns the result of the check.
    static func outcome(
        _ inference: Inference, on documents: some Sequence<BSONDocument>
    ) throws -> Outcome {
        var tally = Tally(inference.compiled, active: .covered(inference.trained))
        for document in documents { try tally.add(document.view) }
        return Outcome(tally, of: inference)
    }

    /// Returns documents with `_id`s from 0 on, and with the fields that `fields` returns for each of them.
    static func documents(_ count: Int, _ fields: (Int) -> [(String, BSONValue)]) -> [BSONDocument] {
        (0..<count).map { BSONDocument([("_id", .integer($0))] + fields($0)) }
    }

    /// Returns an object with these elements.
    static func object(_ elements: [(String, BSONValue)]) -> BSONValue { .object(BSONDocument(elements)) }

    /// Returns one document for each value, with the value in the field `x`.
    static func documents(_ values: [BSONValue]) -> [BSONDocument] { documents(values.count) { [("x", values[$0])] } }
}

extension Inference {
    /// The schema as JSON, for comparisons.
    var json: String { get throws { try schema.extendedJSON(.relaxed) } }

    /// Returns the schema of a field of the documents.
    func property(_ name: String) -> BSONDocument? {
        let root = schema["$jsonSchema"]?.document ?? schema
        return root["properties"]?.document?[name]?.document
    }

    /// Returns the `bsonType` of a field.
    func type(_ name: String) -> BSONValue? { property(name)?["bsonType"] }

    /// The names of the fields that the schema requires.
    var required: [String] {
        let root = schema["$jsonSchema"]?.document ?? schema
        return root["required"]?.document?.values.compactMap(\.text) ?? []
    }

    /// Returns the summary of a path; `nil` if no document has the path.
    func summary(_ path: String) -> PathSummary? { paths.first { "\($0.path)" == path } }
}
