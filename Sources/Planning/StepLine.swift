package import BSON
import Jobs
import ServerSchema

package struct StepLine: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        /// A path, a name or another word.
        case text(String)
        case list([String])
        /// A constant of any BSON type.
        case literal(BSONValue)
        /// A text that is written to the file unchanged.
        case verbatim(String)
    }

    package struct Member: Hashable, Sendable {
        let key: String
        let value: Value
    }

    package let kind: String
    /// The settings of the step, below the key that names the step's kind, in the order of the file.
    package internal(set) var members: [Member]
    /// The types whose values a conversion keeps unchanged, although they are not the type to which it converts.
    var kept: Set<SchemaType> = []
    /// The filter for the documents to which the step applies; `nil` for all.
    var condition: BSONDocument?

    init(_ kind: String, _ members: KeyValuePairs<String, Value?>) {
        self.kind = kind
        self.members = members.compactMap { key, value in value.map { Member(key: key, value: $0) } }
    }

    /// The text of the step on one line of the job file, without the dash.
    package var text: String { condition == nil ? lines[0] : "{\(lines.joined(separator: ", "))}" }

    /// The lines of the step in the job file: its kind with its settings and, if it has a condition, `where`.
    package var lines: [String] {
        var list = members.map { member in
            if kind == DefaultStep.key, case .literal(.string(let text)) = member.value, DefaultStep.looksLikePath(text)
            {
                return "\(member.key): {$literal: \(Self.text(member.value))}"
            }
            return "\(member.key): \(Self.text(member.value))"
        }
        if !kept.isEmpty { list.append("keep: [\(kept.map(\.rawValue).sorted().joined(separator: ", "))]") }
        return ["\(kind): {\(list.joined(separator: ", "))}"]
            + (condition.map { ["where: \(YAMLText.literal(.object($0)))"] } ?? [])
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .text(let text): YAMLText.word(text)
        case .list(let names): "[\(names.map(YAMLText.word).joined(separator: ", "))]"
        case .literal(let value): YAMLText.literal(value)
        case .verbatim(let text): text
        }
    }

    /// Returns the value of a key if it is a text; `nil` if the key is missing or has another value.
    func text(of key: String) -> String? {
        if case .text(let text)? = members.first(where: { $0.key == key })?.value { text } else { nil }
    }
}

extension StepLine {
    static func fill(_ field: String, _ key: String = "value", with value: Value, nullsToo: Bool) -> Self {
        Self("default", ["field": .text(field), key: value, "when": nullsToo ? .text("missingOrNull") : nil])
    }

    /// Returns a step that changes the type of a field, in place or into the field `into`.
    static func convert(
        _ field: String, from old: Set<SchemaType>?, to type: SchemaType, into: String? = nil,
        keeping kept: Set<SchemaType> = []
    ) -> Self {
        // A conversion names its old type only if it converts UUIDs to strings.
        let from: Value? = type == .string && old == [.uuid] ? .text("uuid") : nil
        var line = Self(
            "convert",
            ["field": .text(field), "from": from, "to": .text(type.rawValue), "into": into.map { .text($0) }])
        line.kept = kept.subtracting([type])
        return line
    }

    /// Returns the step with settings for targets that already hold a value.
    /// - Parameters:
    ///   - present: the value of the setting `whenPresent`. The default value, `report`, is not written. With `nil`,
    ///     the step is unchanged.
    ///   - nullsToo: whether the step also fills targets that are null.
    func onTarget(present: WhenPresent?, nullsToo: Bool) -> Self {
        var line = self
        if let present, present != .report {
            line.members.append(Member(key: "whenPresent", value: .text(present.rawValue)))
        }
        if nullsToo, present != nil { line.members.append(Member(key: "when", value: .text("missingOrNull"))) }
        return line
    }

    /// Returns a step whose only setting is its field.
    static func plain(_ kind: String, _ field: String) -> Self { Self(kind, ["field": .text(field)]) }
}

extension StepLine {
    /// The constant that the step fills in; `nil` if the step fills in no constant.
    var filling: BSONValue? {
        if case .literal(let value)? = members.first(where: { $0.key == "value" })?.value { value } else { nil }
    }

    /// The field that the step writes; for a `split`, the field that it reads; empty if the step names none.
    var target: String {
        text(of: "into") ?? text(of: "to").flatMap { kind == "convert" ? nil : $0 } ?? text(of: "field") ?? ""
    }

    /// This conversion with the setting `onLoss: allow`.
    ///
    /// If a value cannot be converted without loss, the step then writes the nearest value instead of skipping the
    /// document.
    var allowingLoss: StepLine { adding("onLoss", .text("allow")) }

    /// This conversion to UUIDs with the setting `legacy: DRIVER`.
    ///
    /// The user replaces `DRIVER` by the driver that wrote the UUIDs of subtype 3.
    var withLegacy: StepLine { adding("legacy", .verbatim("DRIVER")) }

    private func adding(_ key: String, _ value: Value) -> StepLine {
        var line = self
        line.members.append(Member(key: key, value: value))
        return line
    }
}
