package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema
import Yams

/// Changes a field's type, in place or into a second field.
package struct ConvertStep: TargetRuled, AnyDepthStep {
    package static let key = "convert"

    /// The handling of a value that has no counterpart in the new type.
    package enum OnError: Hashable, Sendable {
        /// A value that cannot be converted stays, and the document is reported.
        case report
        /// A constant replaces a value that has no counterpart in the new type. A value that the new type can hold only
        /// in part stays, and the document is reported.
        case replace(BSONValue)
        /// The job does not start if any document has a value that the step cannot convert.
        case fail
    }

    package var field: FieldPath
    let conversion: Conversion
    /// The field that the converted value is written to; `nil` converts the field in place.
    package let into: FieldPath?
    var onError = OnError.report
    var rule = TargetRule()

    /// Whether a value that cannot be converted stays unchanged.
    var reports: Bool { onError == .report || onError == .fail }

    package var type: SchemaType { conversion.target }
    package var target: FieldPath { into ?? field }
    package var source: FieldPath? { into == nil ? nil : field }
    var taken: [FieldPath] { source.map { [$0] } ?? [] }
    package var changesInPlace: Bool { into == nil || rule.whenPresent == .replace }
    package var quick: QuickCondition {
        into == nil ? .present(field, notOf: conversion.settled) : .present(field, with: [target])
    }
    package var inPlaceConversion: Conversion? { into == nil && reports ? conversion : nil }
    package var losses: [(reason: CompiledStep.Reason, when: Expression)] { conversion.losses(of: .field(field)) }
    package var refuses: Set<CompiledStep.Reason> { onError == .fail ? Set(losses.map(\.reason)) : [] }

    package var description: String {
        var text = "convert \(field) to \(type.rawValue)" + (into.map { " into \($0)" } ?? "") + rule.words
        if !conversion.only.isEmpty { text += ", from \(conversion.only.joined(separator: ", "))" }
        if !conversion.kept.isEmpty { text += ", keeping \(conversion.kept.map(\.rawValue).joined(separator: ", "))" }
        if conversion.allowsLoss { text += ", with loss" }
        if case .replace(let value) = onError { text += ", else \(value == .null ? "null" : "a default")" }
        return text
    }

    package var loss: String? {
        if let into { return rule.loss(into) }
        var lost = ["the earlier type of each value of \"\(field)\""]
        if conversion.allowsLoss { lost.append("what \(type.rawValue) cannot hold of it (onLoss: allow)") }
        if case .replace = onError { lost.append("the values that cannot become \(type.rawValue) (onError)") }
        return lost.joined(separator: ", ")
    }

    /// Whether the old value can be determined from the new one, except for the old value's type and the zeros at the
    /// end of its fraction.
    package var determinesOldValue: Bool {
        if case .replace = onError { return false }
        if into != nil, loss != nil { return false }
        return !conversion.allowsLoss
    }

    package func fitted(to declared: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        try StepFitting.check(target, convertedTo: type, declared, at: location)
        return self
    }

    package func refreshIncludes(_ conversion: any StepKind) -> Bool {
        conversion.inPlaceConversion?.target == type && conversion.target == into
    }

    package func body() -> StepBody {
        let source = Expression.field(field)
        let present = field.isReachable && !source.isMissingOrNull
        let isDone = conversion.isDone(source)
        let result = conversion.result(source)
        let isError = conversion.attempted(source).isMissingOrNull
        let (value, isPossible): (Expression, Expression) =
            switch onError {
            case .report, .fail: (result, conversion.converts(source, to: result))
            case .replace(let other):
                (
                    .choose(if: isError, then: .constant(other), else: result),
                    .any([isError, !result.isMissingOrNull])
                )
            }
        guard let into else {
            let due = present && !isDone
            return StepBody(
                wanted: due && isPossible, value: value, conflicts: [(.noValue, due && !isPossible)])
        }
        // A value that already has the new type is copied unchanged.
        let carried = Expression.choose(if: isDone, then: source, else: value)
        let convertible =
            onError == .report || onError == .fail ? !carried.isMissingOrNull : .any([isDone, isPossible])
        return StepBody(
            wanted: .all([present, convertible, rule.isWanted(carried, in: into)]),
            value: rule.written(carried, to: into),
            applies: present,
            conflicts: [
                (.noValue, present && !convertible)
            ] + [rule.conflict(carried, in: into, where: present && convertible)].compactMap(\.self))
    }

    package var reachesElements: Bool { true }

    package func concerns(_ element: BSONElement, in view: borrowing BSONView) -> Bool {
        conversion.only.isEmpty
            ? !conversion.settled.contains { $0.rawValue == element.type.description }
            : conversion.only.contains(element.type.description)
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool {
        if case .replace(.null) = onError { return false }
        // Every value that the step writes has the conversion's type. The only exception is `onError: null`, for which
        // the result is `false` above.
        return target.types.contains { $0 == type || $0 == .mixed || ($0 == .number && type.isNumeric) }
    }
}

extension ConvertStep {
    /// The keys that a `convert` step may have, in all its variants.
    static let members =
        ["field", "to", "from", "into", "keep", "legacy", "unit", "format", "zone", "onError", "default", "onLoss"]
        + YAMLMembers.movingRule

    package static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind] {
        ConvertUUIDStep.reads(node) ? [try ConvertUUIDStep(node)] : [try ConvertStep(node)]
    }

    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"convert\"", allowed: Self.members)
        if let node = members["legacy"] { throw node.error("\"legacy\" is only for a uuid") }
        let field = try members.source(anyDepth: true)
        let type = try Self.type(try members.required("to"))
        let into = try members.target(apartFrom: field)
        let onLoss: OnLoss = try members["onLoss"]?.choice("onLoss") ?? .report
        let unit: Conversion.Unit = try members["unit"]?.choice("unit") ?? .milliseconds
        if let node = members["keep"], into != nil {
            throw node.error("\"keep\" is for a conversion in place: with \"into\", every value gets the new type")
        }
        let isAboutTime = type == .date || type.isNumeric
        if let node = members["unit"], !isAboutTime {
            throw node.error("\"unit\" is for dates: \(type.rawValue) has none")
        }
        if let node = members["zone"], type != .date {
            throw node.error("\"zone\" is for texts that become dates")
        }
        if let node = members["format"], !isAboutTime {
            throw node.error("\"format\" is for texts that become dates or numbers")
        }
        var conversion = Conversion(
            target: type, unit: unit, allowsLoss: onLoss == .allow, keeping: try Self.kept(members["keep"]))
        if type == .date {
            conversion.formats = try DateFormat.all(members["format"], zone: members["zone"])
        } else {
            conversion.numbers = try members["format"].map(NumberFormat.init)
        }
        conversion.only = try Self.only(members, in: conversion)
        if field.components == [FieldPath.anyDepth], conversion.only.isEmpty {
            throw node.error("\"**\" is every field: name a field after it, as in \"**.createdAt\", or add \"from\"")
        }
        let (onError, rule) = (
            try Self.onError(members, type: type), try members.targetRule(among: [.report, .refresh])
        )
        if let node = members["remove"], rule.removes, case .replace = onError {
            throw node.error("\"remove\" would lose the values that \"onError\" replaces")
        }
        self.init(field: field, conversion: conversion, into: into, onError: onError, rule: rule)
    }

    /// Reads `from`, the type or the types whose values are converted.
    private static func only(_ members: YAMLMembers, in conversion: Conversion) throws(JobError) -> [String] {
        guard let node = members["from"] else { return [] }
        for name in ["into", "keep"] {
            if let node = members[name] { throw node.error("\"\(name)\" cannot stand beside \"from\"") }
        }
        let allowed = conversion.sources + (conversion.target == .string ? ["symbol"] : [])
        var only: [String] = []
        for node in node.node.sequence == nil ? [node] : try node.elements(of: "\"from\"") {
            let name = try node.text(of: "\"from\"")
            guard allowed.contains(name) else {
                let hint = Spelling.hint(for: name, among: allowed).map { " (\($0))" } ?? ""
                throw node.error(
                    "\"from\" cannot be \(name)\(hint): \(conversion.target.rawValue) is made from "
                        + allowed.joined(separator: ", "))
            }
            only.append(name)
        }
        return only
    }

    private enum OnErrorWord: String, CaseIterable { case report, null, `default`, fail }

    private static func type(_ node: YAMLNode) throws(JobError) -> SchemaType {
        let name = try node.text(of: "\"to\"")
        let names = Conversion.targets.map(\.rawValue)
        guard let type = SchemaType(rawValue: name), Conversion.targets.contains(type) else {
            let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
            throw node.error("cannot convert to type \"\(name)\"\(hint); types: \(names.joined(separator: ", "))")
        }
        return type
    }

    /// Returns the types that `keep` lists, in the order of the file; the step does not convert values of these types.
    private static func kept(_ node: YAMLNode?) throws(JobError) -> [SchemaType] {
        guard let node else { return [] }
        var kept: [SchemaType] = []
        for element in try node.elements(of: "\"keep\"") {
            let name = try element.text(of: "\"keep\"")
            guard let type = SchemaType(rawValue: name), keepable.contains(type) else {
                let names = keepable.map(\.rawValue)
                let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
                throw element.error(
                    "\"keep\" cannot name the type \"\(name)\"\(hint); types: \(names.joined(separator: ", "))")
            }
            kept.append(type)
        }
        return kept
    }

    /// The types that a job file may list under `keep`.
    private static let keepable = Conversion.targets + [.timestamp]

    private static func onError(_ members: YAMLMembers, type: SchemaType) throws(JobError) -> OnError {
        let word: OnErrorWord = try members["onError"]?.choice("onError") ?? .report
        if let node = members["default"], word != .default {
            throw node.error("\"default\" needs \"onError: default\"")
        }
        switch word {
        case .report: return .report
        case .fail: return .fail
        case .null: return .replace(.null)
        case .default:
            let node = try members.required("default")
            let value = try JobLiteral.value(node)
            guard let fitted = StepFitting.fit(value, to: type) else {
                throw node.error("\"default\" has type \(value.type), but the field is converted to \(type.rawValue)")
            }
            return .replace(fitted)
        }
    }
}

/// The handling of a value that the new type or the new fields cannot hold completely.
enum OnLoss: String, CaseIterable {
    /// A value that the target cannot hold completely is not written, and the document is reported.
    case report
    /// A value that the target cannot hold completely is written, and the rest of the value is lost.
    case allow
}
