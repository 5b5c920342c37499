package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Fills several fields with the parts of a text; the field with the text stays.
package struct SplitStep: TargetRuled {
    package static let key = "split"

    /// The rule by which the step splits the text.
    enum Way: Hashable, Sendable {
        /// The separator between two parts; it occurs in no part.
        case separator(String)
        /// A regular expression with a named group for each part. The template `join`, if there is one, restores the
        /// text from the parts.
        case pattern(String, groups: [Int], join: TextTemplate?, names: [String])
    }

    let field: FieldPath
    let way: Way
    /// The fields that the parts are written to, in the order of the parts.
    package let into: [FieldPath]
    /// Whether the parts are written even if joining them does not restore the text.
    let allowsLoss: Bool
    var rule: TargetRule

    package var target: FieldPath { into[0] }
    package var quick: QuickCondition { .present(field, with: into) }
    var written: [FieldPath] { into }
    var taken: [FieldPath] { [field] }
    package var source: FieldPath? { field }
    package var readsInside: [FieldPath] { into }

    package var description: String {
        "split \(field) into \(into.map(\.description).joined(separator: ", "))" + (allowsLoss ? ", with loss" : "")
            + rule.words
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard type == .string || type == .mixed else {
            throw JobError("\"\(into[0])\" becomes a text, and the next schema declares \(type.rawValue)", at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let source = Expression.field(field)
        let present = field.isReachable && !source.isMissingOrNull
        let isText = source.hasType("string")
        let parts = Expression.choose(if: isText, then: parts(of: source), else: .null)
        let isSplit = parts.hasType("array")
        func part(_ index: Int) -> Expression { .call("$arrayElemAt", parts, .constant(.integer(index))) }
        let isReady = Expression.all([present, isText, isSplit])
        let others = into.enumerated().compactMap { rule.conflict(part($0), in: $1, where: .constant(true))?.when }
        let isWanted = Expression.any(into.enumerated().map { rule.isWanted(part($0), in: $1) })
        return StepBody(
            wanted: .all([isReady, isWanted] + (others.isEmpty ? [] : [!.any(others)])), value: part(0),
            also: into.enumerated().dropFirst().map { ($0.element, part($0.offset)) }, applies: present,
            conflicts: [
                (.wrongType, present && !isText), (.notSplittable, .all([present, isText, !isSplit])),
            ] + (others.isEmpty ? [] : [(.targetDiffers, .all([isReady, .any(others)]))]))
    }

    /// Returns the parts of a text, one for each field.
    ///
    /// The result is `null` if the text does not have one part for each field, or if loss is not allowed and joining
    /// the parts does not restore the text.
    private func parts(of text: Expression) -> Expression {
        switch way {
        case .separator(let separator):
            let parts = Expression.call("$split", text, .constant(.string(separator)))
            return .let(
                ["parts": parts],
                in: .choose(
                    if: Expression(["$size": "$$parts"]) == .constant(.integer(into.count)),
                    then: .variable("parts"), else: .null))
        case .pattern(let pattern, let groups, let join, let names):
            let match = Expression([
                "$regexFind": ["input": text.bson, "regex": ["$literal": .string(pattern)]]
            ])
            let captures = Expression(
                .array(of: groups.map { ["$arrayElemAt": ["$$match.captures", .integer($0)]] }))
            let isWhole = Expression(["$allElementsTrue": ["$$parts"]])
            let isAgain: Expression =
                if let join, !allowsLoss {
                    .sameText(
                        join.filled { name in
                            .call(
                                "$arrayElemAt", .variable("parts"), .constant(.integer(names.firstIndex(of: name) ?? 0))
                            )
                        }, text)
                } else { .constant(true) }
            return .let(
                ["match": match],
                in: .choose(
                    if: .variable("match").hasType("object"),
                    then: .let(
                        ["parts": captures],
                        in: .choose(if: isWhole && isAgain, then: .variable("parts"), else: .null)), else: .null))
        }
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool {
        into.allSatisfy { path in
            schema.leadsThroughObjects(to: path)
                && schema.property(at: path)?.types.contains { $0 == .string || $0 == .mixed } == true
        }
    }
}

extension SplitStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(
            of: "\"split\"", allowed: ["field", "by", "regex", "into", "join", "onLoss"] + YAMLMembers.movingRule)
        field = try members.required("field").sourcePath("field")
        allowsLoss = try (members["onLoss"]?.choice("onLoss") ?? OnLoss.report) == .allow
        rule = try members.targetRule(among: [.report, .refresh])
        let place = try members.required("into")
        switch (members["by"], members["regex"]) {
        case (let by?, nil):
            if let join = members["join"] { throw join.error("\"join\" needs \"regex\": \"by\" joins by itself") }
            way = .separator(try by.text(of: "\"by\""))
            var into: [FieldPath] = []
            for node in try place.elements(of: "\"into\"") { into.append(try node.fieldPathBelowNoList("into")) }
            self.into = into
        case (nil, let regex?):
            let pattern = try regex.text(of: "\"regex\"")
            let groups = NamedGroups(in: pattern).groups
            let names = groups.map(\.name)
            guard !names.isEmpty, Set(names).count == names.count else {
                throw regex.error(
                    "\"regex\" must have a named group for each field, like (?<first>[^ ]+), each name once")
            }
            let fields = try place.members(of: "\"into\"", allowed: names)
            var into: [FieldPath] = []
            for name in names { into.append(try fields.required(name).fieldPathBelowNoList(name)) }
            self.into = into
            var join: TextTemplate?
            if let node = members["join"] {
                let template = try TextTemplate(node, key: "join")
                guard Set(template.holes) == Set(names) else {
                    throw node.error("\"join\" must name each group once or more: \(names.joined(separator: ", "))")
                }
                join = template
            }
            guard join != nil || allowsLoss else {
                throw node.error(
                    "\"split\" by a regex needs \"join\", the template that makes the text again, or \"onLoss: allow\"")
            }
            way = .pattern(pattern, groups: groups.map(\.index), join: join, names: names)
        default: throw node.error("\"split\" needs either \"by\", a separator, or \"regex\"")
        }
        guard into.count > 1 else { throw place.error("\"into\" must name at least two fields") }
        for (index, path) in into.enumerated() {
            try place.checkApart(field, path)
            for other in into[..<index] { try place.checkApart(other, path) }
        }
    }
}
