package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Converts a field to or from a UUID: `convert` with `to: uuid` or `from: uuid`.
///
/// The client does the conversion, because servers before 8.0 have no operator for it.
package struct ConvertUUIDStep: AnyDepthStep {
    package static let key = "convert"

    package var field: FieldPath
    package let type: SchemaType
    /// The byte order of UUIDs of subtype 3; with `nil`, values of this subtype are skipped, because they do not show
    /// their order.
    package let legacy: LegacyUUID?
    /// Whether a text that is not in the canonical format is converted, although its original format is lost.
    package let allowsLoss: Bool
    /// The only BSON type whose values are converted, by its alias; `nil` for texts and binary values.
    package let only: String?
    /// The field that the converted value is written to; `nil` converts the field in place.
    package let into: FieldPath?

    package var changesInPlace: Bool { into == nil }
    package var target: FieldPath { into ?? field }
    package var source: FieldPath? { into == nil ? nil : field }

    package var description: String {
        "convert \(field) \(type == .string ? "from uuid " : "")to \(type.rawValue)"
            + (into.map { " into \($0)" } ?? "") + (legacy.map { ", legacy of \($0.rawValue)" } ?? "")
    }

    package var loss: String? {
        guard into == nil else { return nil }
        let types =
            type == .uuid
            ? "which values of \"\(field)\" were texts or UUIDs" : "which values of \"\(field)\" were UUIDs"
        return types + (legacy == nil ? "" : ", which UUIDs had subtype 3")
            + (type == .uuid && allowsLoss ? ", and how the texts were spelled" : "")
    }

    package func fitted(to declared: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        try StepFitting.check(target, convertedTo: type, declared, at: location)
        return self
    }

    package func body() -> StepBody {
        let source = Expression.field(field)
        let present =
            field.isReachable && (only.map { source.hasType($0) } ?? !source.isMissingOrNull)
        let due = into == nil ? present && !isDone(source) : present
        let eligible = source.hasType("string", "binData")
        return StepBody(
            wanted: due && eligible, value: .null, applies: present,
            conflicts: [(.noValue, due && !eligible)])
    }

    /// Returns whether the value already has the type that the step converts to.
    ///
    /// A value is a UUID if it lies between the smallest and the largest UUID. This suffices because the server orders
    /// binary values by length, then subtype, then bytes.
    private func isDone(_ value: Expression) -> Expression {
        guard type == .uuid else { return value.hasType("string") }
        let bound = { (byte: UInt8) in
            Expression.constant(.binary(subtype: 4, bytes: Array(repeating: byte, count: 16)))
        }
        return .all([
            value.hasType("binData"), .call("$gte", value, bound(0x00)), .call("$lte", value, bound(0xFF)),
        ])
    }

    package var reachesElements: Bool { true }

    package func concerns(_ element: BSONElement, in view: borrowing BSONView) -> Bool {
        let types: [BSONType] = type == .uuid ? [.string, .binData] : [.binData]
        return types.contains(element.type) && only.map { $0 == element.type.description } != false
    }

    package var clientComputation: ClientComputation? { .convertUUID(self) }
    package var clientReasons: [CompiledStep.Reason] {
        [.rounded, .ambiguous, .noValue] + (into == nil ? [] : [.targetDiffers])
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool {
        target.types.contains { $0 == type || $0 == .mixed }
    }
}

extension ConvertUUIDStep {
    static func reads(_ node: YAMLNode) -> Bool {
        ["to", "from"].contains { node.hasMember($0, SchemaType.uuid.rawValue) }
    }

    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"convert\"", allowed: ConvertStep.members)
        let field = try members.source(anyDepth: true)
        let toNode = try members.required("to")
        guard let type = SchemaType(rawValue: try toNode.text(of: "\"to\"")), [.uuid, .string].contains(type) else {
            throw toNode.error("a uuid can be converted only to string")
        }
        if let from = members["from"], try from.text(of: "\"from\"") != (type == .uuid ? "string" : "uuid"),
            try from.text(of: "\"from\"") != "uuid"
        {
            throw from.error("\"from\" must be \(type == .uuid ? "string or uuid" : "uuid")")
        }
        var into: FieldPath?
        if let node = members["into"] {
            let target = try node.fieldPathBelowNoList("into")
            try node.checkApart(field, target)
            into = target
        }
        var only: String?
        if let from = members["from"], type == .uuid || field.isOfAnyDepth {
            only = try from.text(of: "\"from\"") == "uuid" ? "binData" : "string"
        }
        if field.components == [FieldPath.anyDepth], only == nil {
            throw node.error("\"**\" is every field: name a field after it, as in \"**.ref\", or add \"from\"")
        }
        self.init(
            field: field, type: type,
            legacy: try members["legacy"].map { (node) throws(JobError) in
                try node.choice("legacy") as LegacyUUID
            },
            allowsLoss: try members["onLoss"].map { (node) throws(JobError) in
                try node.choice("onLoss") as OnLoss
            } == .allow, only: only, into: into)
        for name in ["keep", "unit", "format", "zone", "default"] + YAMLMembers.movingRule {
            if let node = members[name] { throw node.error("\"\(name)\" cannot be used with a uuid") }
        }
        if let node = members["onError"], try node.text(of: "\"onError\"") != "report" {
            throw node.error("\"onError\" must be report: values that cannot be converted are listed and skipped")
        }
    }

    private enum OnLoss: String, CaseIterable { case report, allow }
}
