package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Combines the values of several fields in one text.
///
/// Each value is a text, or a value that `convert` turns into a text without loss: a number, a bool, a date or an
/// ObjectId.
package struct CombineStep: TargetRuled {
    package static let key = "combine"

    package let into: FieldPath
    let template: TextTemplate
    /// The fields whose values are combined, by their names in the template.
    let parts: [String: FieldPath]
    var rule: TargetRule

    package var target: FieldPath { into }
    var taken: [FieldPath] {
        var seen: Set<FieldPath> = []
        return template.holes.compactMap { parts[$0] }.filter { seen.insert($0).inserted }
    }

    package var description: String {
        "combine \(taken.map(\.description).joined(separator: ", ")) into \(into)" + rule.words
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard type == .string || type == .mixed else {
            throw JobError(
                "\"\(into)\" becomes a text, and the next schema declares \(type.rawValue)", at: location)
        }
        return self
    }

    package func body() -> StepBody {
        func value(_ path: FieldPath) -> Expression { .field(path) }
        func isThere(_ path: FieldPath) -> Expression { path.isReachable && !value(path).isMissingOrNull }
        let sources = taken
        let areThere = Expression.all(sources.map(isThere))
        let areTexts = Expression.all(sources.map { !text(of: $0).isMissingOrNull })
        let target = Expression.field(into)
        let combined = template.filled { name in parts[name].map(text(of:)) ?? .constant("") }
        let isFree = rule.isFree(target, for: combined)
        // If a field's parent is not an object, the document is reported for that reason, and not for a missing field.
        let blocked = sources.compactMap { $0.blocked { !$0.isMissingOrNull && !$0.hasType("object") } }
        return StepBody(
            wanted: .all([areThere, areTexts, rule.isWanted(combined, in: into)]),
            value: rule.written(combined, to: into), applies: .any(sources.map(isThere)),
            conflicts: [
                (.partMissing, .all([isFree, !areThere] + blocked.map { !$0 })),
                (.wrongType, .all([isFree, areThere, !areTexts])),
            ] + [rule.conflict(combined, in: into, where: areThere && areTexts)].compactMap(\.self))
    }

    /// Returns the text of a part; `null` for a value that is no text, and does not become one without loss.
    private func text(of part: FieldPath) -> Expression {
        let value = Expression.field(part)
        return .choose(
            if: value.hasType("string"), then: value, else: Conversion(target: .string).believed(value))
    }

    /// The condition that a part has a value whose text is not in the target.
    func lacks(_ part: FieldPath) -> Expression {
        let (value, target) = (Expression.field(part), Expression.field(into))
        let text = text(of: part)
        let isIn = Expression.choose(
            if: .all([target.hasType("string"), !text.isMissingOrNull]),
            then: .call("$gte", .call("$indexOfBytes", target, text), .constant(.int(0))), else: .constant(false))
        return .all([part.isReachable, !value.isMissingOrNull, !isIn])
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool { target.types.contains { $0 == .string || $0 == .mixed } }
}

extension CombineStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"combine\"", allowed: ["into", "template"] + YAMLMembers.movingRule)
        into = try members.required("into").fieldPathBelowNoList("into")
        let place = try members.required("template")
        template = try TextTemplate(place, key: "template")
        var parts: [String: FieldPath] = [:]
        for name in template.holes {
            let path = try place.fieldPath(name, in: "template", isRead: true)
            try place.checkApart(path, into)
            parts[name] = path
        }
        self.parts = parts
        rule = try members.targetRule(among: [.report, .refresh])
    }
}
