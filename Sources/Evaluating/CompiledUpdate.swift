package import BSON
import Jobs

/// An update pipeline of `$set` stages that the client evaluates as the server does.
package struct CompiledUpdate: Sendable {
    private let stages: [[(name: String, value: CompiledExpression)]]
    /// The fields that this update reads, and the fields that the expressions compiled earlier in the same group read.
    private let group: SharedFields

    /// Compiles a pipeline, and adds the fields that it reads to `group`.
    ///
    /// The result is `nil` if a stage is not a `$set`, or if a stage sets anything but a top-level field.
    package init?(_ pipeline: [BSONDocument], in group: inout SharedFields) {
        var stages: [[(name: String, value: CompiledExpression)]] = []
        for stage in pipeline {
            guard let fields = try? stage["$set"]?.document?.elements(), (try? stage.elements().count) == 1,
                !fields.contains(where: { $0.name.contains(".") || $0.name.hasPrefix("$") })
            else { return nil }
            let compiled = fields.map {
                (name: $0.name, value: CompiledExpression(Expression($0.value), in: &group))
            }
            // Stages that do not depend on each other are applied as one, because each stage copies the document.
            if let last = stages.indices.last, Self.areIndependent(stages[last], compiled) {
                stages[last] += compiled
            } else {
                stages.append(compiled)
            }
        }
        (self.stages, self.group) = (stages, group)
    }

    /// Whether two stages can be applied as one: the second stage sets and reads no field that the first stage sets.
    ///
    /// The result is `false` if it is not certain which fields the second stage reads.
    private static func areIndependent(
        _ first: [(name: String, value: CompiledExpression)], _ second: [(name: String, value: CompiledExpression)]
    ) -> Bool {
        !first.contains { earlier in
            second.contains { $0.name.utf8.elementsEqual(earlier.name.utf8) || $0.value.mayRead(earlier.name) }
        }
    }

    /// Whether the new value of each field depends only on the document before the update, so that
    /// ``appendValue(of:for:in:to:)`` can compute it.
    package var isOneStage: Bool { stages.count == 1 }

    /// The names of the fields that the update sets.
    package var names: [String] { stages.flatMap { $0.map(\.name) } }

    /// Appends a field of ``names`` with the value that it has after the update; appends nothing if the field is then
    /// missing.
    /// - Parameters:
    ///   - index: the field's index in ``names``; ``isOneStage`` must be `true`.
    ///   - frame: has the document's fields.
    package func appendValue(
        of index: Int, for document: borrowing BSONView, in frame: inout Frame, to builder: inout BSONBuilder
    ) throws(NotEvaluated) {
        let operand = try stages[0][index].value.operand(for: document, in: &frame)
        builder.append(stages[0][index].name, operand, of: document)
    }

    /// Returns the document after the update.
    /// - Parameter frame: has the document's fields, and still has them afterwards.
    package func applied(
        to document: borrowing BSONView, in frame: inout Frame
    ) throws(NotEvaluated) -> BSONDocument {
        guard let first = stages.first else { return BSONDocument(copying: document) }
        var result = try Self.applied(first, to: document, &frame)
        guard stages.count > 1 else { return result }
        // Each later stage reads the fields of the document that the previous stage returned.
        var later = frame
        for stage in stages.dropFirst() {
            try later.locate(group, in: result.view)
            result = try Self.applied(stage, to: result.view, &later)
        }
        return result
    }

    /// The room in bytes that the builder reserves for new fields, so that it seldom has to grow.
    private static let growth = 64

    /// Returns the document after one `$set` stage.
    ///
    /// Existing fields keep their positions, and new fields are added at the end. A field whose new value is missing is
    /// removed.
    private static func applied(
        _ fields: [(name: String, value: CompiledExpression)], to document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> BSONDocument {
        var values: [(operand: Operand, isPlaced: Bool)] = []
        for field in fields { values.append((try field.value.operand(for: document, in: &frame), false)) }
        var builder = BSONBuilder(capacity: document.byteCount + Self.growth)
        // The builder has the bytes before `copied`; the loop has looked at the elements before `position`.
        var position = document.firstPosition
        var copied = position
        while true {
            let start = position
            guard let element = try document.nextElement(&position) else { break }
            let name = document.nameBytes(element)
            guard let index = fields.indices.first(where: { name.isEqual(to: fields[$0].name) }) else { continue }
            values[index].isPlaced = true
            builder.append(copied..<start, of: document)
            builder.append(fields[index].name, values[index].operand, of: document)
            copied = position
        }
        builder.append(copied..<document.end - 1, of: document)
        for index in fields.indices where !values[index].isPlaced {
            builder.append(fields[index].name, values[index].operand, of: document)
        }
        return builder.finish()
    }
}
