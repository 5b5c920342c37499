package import BSON
import Jobs
import ServerSchema

/// An entry of a job's `steps`, as its file spells it.
package struct StepLine: Hashable, Sendable {
    /// A value of one of its keys.
    package enum Value: Hashable, Sendable {
        /// A path, a name or a word.
        case text(String)
        /// Names.
        case list([String])
        /// A constant of any BSON type.
        case literal(BSONValue)
        /// What stands there as it is.
        case verbatim(String)
    }

    /// A key and its value.
    package struct Member: Hashable, Sendable {
        let key: String
        let value: Value
    }

    /// The key that names the kind of step.
    package let kind: String
    /// What stands under it, in this order.
    package internal(set) var members: [Member]

    init(_ kind: String, _ members: KeyValuePairs<String, Value?>) {
        self.kind = kind
        self.members = members.compactMap { key, value in value.map { Member(key: key, value: $0) } }
    }

    /// The line, without the dash.
    package var text: String {
        let list = members.map { "\($0.key): \(Self.text($0.value))" }.joined(separator: ", ")
        return "\(kind): {\(list)}"
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .text(let text): YAMLText.word(text)
        case .list(let names): "[\(names.map(YAMLText.word).joined(separator: ", "))]"
        case .literal(let value): YAMLText.literal(value)
        case .verbatim(let text): text
        }
    }

    /// A member's text.
    func text(of key: String) -> String? {
        if case .text(let text)? = members.first(where: { $0.key == key })?.value { text } else { nil }
    }
}

extension StepLine {
    /// Fills a field.
    static func fill(_ field: String, with value: Value, nullsToo: Bool) -> Self {
        Self(
            "default", ["field": .text(field), "value": value, "when": nullsToo ? .text("missingOrNull") : nil])
    }

    /// Changes a field's type.
    static func convert(_ field: String, from old: Set<SchemaType>?, to type: SchemaType, into: String? = nil) -> Self {
        // Only a uuid's way to a text is named by both ends.
        let from: Value? = type == .string && old == [.uuid] ? .text("uuid") : nil
        return Self(
            "convert",
            ["field": .text(field), "from": from, "to": .text(type.rawValue), "into": into.map { .text($0) }])
    }

    /// The step with what it does where its target holds something.
    func onTarget(present: WhenPresent?, nullsToo: Bool) -> Self {
        var line = self
        if let present, present != .report {
            line.members.append(Member(key: "whenPresent", value: .text(present.rawValue)))
        }
        if nullsToo, present != nil { line.members.append(Member(key: "when", value: .text("missingOrNull"))) }
        return line
    }

    /// A step with nothing to say but its field.
    static func plain(_ kind: String, _ field: String) -> Self { Self(kind, ["field": .text(field)]) }
}
