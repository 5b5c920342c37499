package import BSON
package import Checking
import Concurrency
import ServerSchema

/// The answer to a case: a verdict, a refusal of the schema, or no answer.
package enum ConformanceAnswer: Hashable, Sendable {
    /// The document was judged; the value is whether it fits.
    case judged(Bool)
    /// The schema is refused; the value is the reason.
    case refused(String)
    /// There is no answer; the value is the reason.
    case none(String)

    /// Whether both answers are the same verdict, or both refuse the schema; the reasons may differ.
    package func agrees(with other: ConformanceAnswer) -> Bool {
        switch (self, other) {
        case (.judged(let left), .judged(let right)): left == right
        case (.refused, .refused): true
        default: false
        }
    }
}

extension ConformanceAnswer: CustomStringConvertible {
    package var description: String {
        switch self {
        case .judged(let fits): fits ? "fits" : "does not fit"
        case .refused(let reason): "schema refused: \(reason)"
        case .none(let reason): "no answer: \(reason)"
        }
    }
}

/// A schema to judge documents by, or the reason why the checker refuses it.
package struct JudgingSchema: Sendable {
    /// The compiled schema; `nil` if the checker refuses it.
    package let compiled: CompiledSchema?
    private let refusal: String

    /// Compiles a schema, or keeps the reason why the checker refuses it.
    package init(_ schema: BSONDocument) {
        let namespace = Namespace(database: "conformance", collection: "cases")
        do throws(SchemaError) {
            let schema = schema.withoutMistaken
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
            // The full check, which lists the violations, must agree with the quick check.
            let violations = try compiled.violations(in: document.view, includingInfo: false)
            guard fits == violations.isEmpty else { return .none("the two passes differ: \(violations)") }
            return .judged(fits)
        } catch {
            return .none("\(error)")
        }
    }
}

extension BSONDocument {
    /// The schema without the keyword that a planted mistake makes the program ignore.
    fileprivate var withoutMistaken: BSONDocument {
        #if DEBUG || SHIPSHAPE_FAULTS
        guard FaultInjection.hasMistake, let fields = try? elements() else { return self }
        return BSONDocument(
            fields.filter { FaultInjection.mistake(in: $0.name, of: "keyword") == nil }.map { field in
                (field.name, field.name == "enum" ? field.value : field.value.withoutMistaken)
            })
        #else
        return self
        #endif
    }
}

extension BSONValue {
    fileprivate var withoutMistaken: BSONValue {
        switch self {
        case .object(let object): .object(object.withoutMistaken)
        case .array(let list): .array(of: list.values.map(\.withoutMistaken))
        default: self
        }
    }
}
