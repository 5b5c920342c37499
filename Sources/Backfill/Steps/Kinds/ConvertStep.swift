package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Changes a field's type, in place or into a second field.
package struct ConvertStep: StepKind {
    package static let key = "convert"

    let field: FieldPath
    let type: SchemaType
    /// The field that takes the converted value; `nil` converts in place.
    let into: FieldPath?

    package var target: FieldPath { into ?? field }
    package var source: FieldPath? { into == nil ? nil : field }

    package var description: String {
        "convert \(field) to \(type.rawValue)" + (into.map { " into \($0)" } ?? "")
    }

    package var loss: String? {
        into == nil ? "the values of \"\(field)\" as they were: it is converted in place" : nil
    }

    package func fitted(to declared: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard type == declared || declared == .mixed else {
            throw JobError(
                "\"\(target)\" is converted to \(type.rawValue), and the next schema declares \(declared.rawValue)",
                at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let conversion = Conversion(target: type)
        let source = Expression.field(field)
        let present = field.isReachable && !source.isMissingOrNull
        guard let into else {
            let value = conversion.believed(source)
            let due = present && !conversion.isDone(source)
            return StepBody(
                wanted: due && !value.isMissingOrNull, value: value,
                conflicts: [(.notConvertible, due && value.isMissingOrNull)])
        }
        // A value that has the type already is carried over as it is.
        let value = Expression.choose(if: conversion.isDone(source), then: source, else: conversion.believed(source))
        let convertible = !value.isMissingOrNull
        let target = Expression.field(into)
        return StepBody(
            wanted: present && target.isMissing && convertible, value: value, isConcerned: present,
            conflicts: [
                (.notConvertible, present && !convertible),
                (.targetDiffers, present && convertible && !target.isMissing && !.same(target, value)),
            ])
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool {
        // Whatever was there, what is written has that type.
        target.types.contains { $0 == type || $0 == .mixed || ($0 == .number && type.isNumeric) }
    }
}

extension ConvertStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"convert\"", allowed: ["field", "to", "into", "onError"])
        let field = try members.required("field").fieldPath("field")
        let typeNode = try members.required("to")
        let name = try typeNode.text(of: "\"to\"")
        let names = Conversion.targets.map(\.rawValue)
        guard let type = SchemaType(rawValue: name), Conversion.targets.contains(type) else {
            let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
            throw typeNode.error("cannot convert to type \"\(name)\"\(hint); types: \(names.joined(separator: ", "))")
        }
        var into: FieldPath?
        if let node = members["into"] {
            let target = try node.fieldPath("into")
            try node.checkApart(field, target)
            into = target
        }
        if let node = members["onError"], try node.text(of: "\"onError\"") != "report" {
            throw node.error("\"onError\" must be report: what cannot be converted is listed and left alone")
        }
        self.init(field: field, type: type, into: into)
    }
}
