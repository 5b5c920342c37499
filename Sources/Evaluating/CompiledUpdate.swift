package import BSON
import Jobs

/// An update pipeline of `$set` stages that the client evaluates as the server does.
package struct CompiledUpdate: Sendable {
    private let stages: [[(name: String, value: CompiledExpression)]]

    /// Compiles a pipeline; `nil` if a stage is not a `$set`, or sets anything but a top-level field.
    package init?(_ pipeline: [BSONDocument]) {
        var stages: [[(name: String, value: CompiledExpression)]] = []
        for stage in pipeline {
            guard let fields = try? stage["$set"]?.document?.elements(), (try? stage.elements().count) == 1,
                !fields.contains(where: { $0.name.contains(".") || $0.name.hasPrefix("$") })
            else { return nil }
            stages.append(fields.map { ($0.name, CompiledExpression(Expression($0.value))) })
        }
        self.stages = stages
    }

    /// Returns the document after the update.
    package func applied(to document: borrowing BSONView) throws(NotEvaluated) -> BSONDocument {
        guard let first = stages.first else { return BSONDocument(copying: document) }
        var result = try Self.applied(first, to: document)
        for stage in stages.dropFirst() { result = try Self.applied(stage, to: result.view) }
        return result
    }

    /// Returns the document after one `$set` stage.
    ///
    /// Existing fields keep their positions, and new fields are added at the end. A field whose new value is missing is
    /// removed.
    private static func applied(
        _ fields: [(name: String, value: CompiledExpression)], to document: borrowing BSONView
    ) throws(NotEvaluated) -> BSONDocument {
        var values: [(name: String, value: BSONValue?, isPlaced: Bool)] = []
        for field in fields { values.append((field.name, try field.value.value(for: document), false)) }
        var builder = BSONBuilder()
        do {
            var position = document.firstPosition
            while let element = try document.next(&position) {
                if let index = values.firstIndex(where: { document.nameBytes(element).isEqual(to: $0.name) }) {
                    values[index].isPlaced = true
                    if let value = values[index].value { builder.append(values[index].name, value) }
                } else {
                    builder.append(element, of: document)
                }
            }
        } catch { throw NotEvaluated(.damage) }
        for field in values where !field.isPlaced { if let value = field.value { builder.append(field.name, value) } }
        return builder.finish()
    }
}
