package import BSON
package import Checking
import ServerSchema

/// A schema and a document to judge by it.
package struct ConformanceCase: Sendable {
    /// The value of `$jsonSchema`.
    package var schema: BSONDocument
    /// The document.
    package var document: BSONDocument

    /// Makes a case of a schema and a document.
    package init(schema: BSONDocument, document: BSONDocument) {
        self.schema = schema
        self.document = document
    }
}

/// The answer to a case.
package enum ConformanceAnswer: Hashable, Sendable {
    /// Whether the document fits.
    case judged(Bool)
    /// The schema is refused; the value is the reason.
    case refused(String)
    /// No answer: mongod would not store the document, or a judgement failed.
    case none(String)

    /// Whether both give the same verdict or both refuse the schema; the reasons may differ.
    package func agrees(with other: ConformanceAnswer) -> Bool {
        switch (self, other) {
        case (.judged(let left), .judged(let right)): left == right
        case (.refused, .refused): true
        default: false
        }
    }
}

extension ConformanceAnswer: CustomStringConvertible {
    /// The answer in words.
    package var description: String {
        switch self {
        case .judged(let fits): fits ? "fits" : "does not fit"
        case .refused(let reason): "schema refused: \(reason)"
        case .none(let reason): "no answer: \(reason)"
        }
    }
}

/// A schema to judge by, or the reason why it is refused.
package struct JudgingSchema: Sendable {
    /// The schema in the form that the checker uses; `nil` if it is refused.
    package let compiled: CompiledSchema?
    private let refusal: String

    /// Reads a schema.
    package init(_ schema: BSONDocument) {
        let namespace = Namespace(database: "conformance", collection: "cases")
        do throws(SchemaError) {
            compiled = CompiledSchema(try CollectionSchema(jsonSchema: schema, namespace: namespace))
            refusal = ""
        } catch {
            compiled = nil
            refusal = "\(error)"
        }
    }

    /// Returns the checker's answer for a document.
    package func answer(for document: BSONDocument) -> ConformanceAnswer {
        guard let compiled else { return .refused(refusal) }
        do throws(BSONError) {
            let fits = try compiled.check(document.view) == .fits
            // The check that lists the violations must agree with the quick check.
            let violations = try compiled.violations(in: document.view, includingInfo: false)
            guard fits == violations.isEmpty else { return .none("the two passes differ: \(violations)") }
            return .judged(fits)
        } catch {
            return .none("\(error)")
        }
    }
}
