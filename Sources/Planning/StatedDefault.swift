import BSON
import Checking
import Jobs
import ServerSchema

/// A value that the user states for a field on the command line, such as `Person.email=""`.
package struct StatedDefault: Hashable, Sendable {
    /// The text that the user wrote.
    package let text: String
    /// The field's path, which begins with the title of its type or the name of its collection.
    let field: String
    /// The value as JSON or extended JSON; a text may lack its quotation marks.
    let value: String

    /// Reads `TYPE.field=VALUE`; `nil` for any other text.
    package init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        (self.text, field, value) = (text, String(text[..<sign]), String(text[text.index(after: sign)...]))
        guard !field.isEmpty, field.first != ".", field.last != "." else { return nil }
    }
}

extension StatedDefault {
    /// Returns the field of the newer schema that the user named.
    /// - Throws: ``PlanError`` when the name matches no collection, several collections, no field of a collection, or
    ///   an `_id`.
    func place(in schema: ServerSchema) throws(PlanError) -> StatedField.Place {
        let place = try StatedField(field, flag: "--default \(field)=…").place(in: schema, named: "newer")
        if place.path.steps.first == .field("_id") {
            throw error("every document has an _id, which never changes: no default fills it")
        }
        return place
    }

    /// Returns the stated value, converted to the field's type.
    /// - Throws: ``PlanError`` when the value has another type, or does not fit the field's schema.
    func value(for place: StatedField.Place) throws(PlanError) -> StepLine.Value {
        let types = place.node.types.filter { $0 != .null }
        if value == "$now", types.isEmpty || types == [.date] || types == [.mixed] { return .verbatim("$now") }
        let allowed = place.node.constraints.allowedValues
        let isText = types == [.string] || types.isEmpty && allowed?.allSatisfy { $0.type == .string } == true
        // A shell removes the quotation marks, so a value that is not JSON can only be meant as a text.
        guard let read = value.isEmpty ? nil : try? BSONValue(extendedJSON: value) else {
            guard isText else { throw error("\"\(value)\" is not JSON, and the newer schema declares \(words(types))") }
            return .literal(.string(value))
        }
        let only = isText ? .string : types.count == 1 ? types[0] : nil
        guard let fitted = only.map({ read.fitted(to: $0) }) ?? read else {
            let remedy = isText ? ": write --default '\(field)=\(value.quotedAsJSON)'" : ""
            throw error("the value has type \(read.type), and the newer schema declares \(words(types))\(remedy)")
        }
        guard place.node.takes(fitted, in: place.collection.dialect) else {
            throw error("the value does not fit the newer schema at \(place.path)")
        }
        return .literal(fitted.spelled(for: place.node))
    }

    private func words(_ types: [SchemaType]) -> String {
        types.isEmpty ? "any type" : types.map(\.rawValue).joined(separator: " or ")
    }

    private func error(_ message: String) -> PlanError { PlanError("--default \(field)=…: \(message)") }
}
