import BSON
import LocatedYAML
import ServerSchema

/// Reads the entries of a job's `steps`.
enum JobSteps {
    static let kinds = ["default", "copy", "convert"]

    static func step(_ node: YAMLNode) throws(JobError) -> Job.LocatedStep {
        let entry = try node.members(of: "a step", allowed: kinds)
        guard entry.members.count == 1, let (kind, body) = entry.members.first else {
            throw node.error("a step has exactly one kind, of \(kinds.joined(separator: ", "))")
        }
        let step: Step
        switch kind {
        case "default": step = try readDefault(body)
        case "copy": step = try readCopy(body)
        default: step = try readConvert(body)
        }
        return Job.LocatedStep(step: step, location: node.location)
    }

    private static func readDefault(_ node: YAMLNode) throws(JobError) -> Step {
        let members = try node.members(of: "\"default\"", allowed: ["field", "value", "when"])
        let field = try path(try members.required("field"), "field")
        let value = try JobLiteral.value(try members.required("value"))
        var nullsToo = false
        if let when = members["when"] {
            switch try when.text(of: "\"when\"") {
            case "missing": nullsToo = false
            case "missingOrNull": nullsToo = true
            default: throw when.error("\"when\" must be missing or missingOrNull")
            }
        }
        guard !nullsToo || (value != .null && value != .undefined) else {
            throw node.error("a default of null never ends the need for one: give another value, or \"when: missing\"")
        }
        return .default(field: field, value: value, nullsToo: nullsToo)
    }

    private static func readCopy(_ node: YAMLNode) throws(JobError) -> Step {
        let members = try node.members(of: "\"copy\"", allowed: ["from", "to"])
        let from = try path(try members.required("from"), "from")
        let target = try members.required("to")
        let to = try path(target, "to")
        try checkApart(from, to, target)
        return .copy(from: from, to: to)
    }

    private static func readConvert(_ node: YAMLNode) throws(JobError) -> Step {
        let members = try node.members(of: "\"convert\"", allowed: ["field", "to", "into", "onError"])
        let field = try path(try members.required("field"), "field")
        let typeNode = try members.required("to")
        let name = try typeNode.text(of: "\"to\"")
        let names = Conversion.targets.map(\.rawValue)
        guard let type = SchemaType(rawValue: name), Conversion.targets.contains(type) else {
            let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
            throw typeNode.error("cannot convert to type \"\(name)\"\(hint); types: \(names.joined(separator: ", "))")
        }
        var into: FieldPath?
        if let node = members["into"] {
            let target = try path(node, "into")
            try checkApart(field, target, node)
            into = target
        }
        if let node = members["onError"], try node.text(of: "\"onError\"") != "report" {
            throw node.error("\"onError\" must be report: what cannot be converted is listed and left alone")
        }
        return .convert(field: field, to: type, into: into)
    }

    private static func path(_ node: YAMLNode, _ key: String) throws(JobError) -> FieldPath {
        let path: FieldPath
        do { path = try FieldPath(try node.text(of: "\"\(key)\"")) } catch let error as JobError {
            throw error
        } catch {
            throw node.error("\"\(key)\": \(error)")
        }
        guard path.components[0] != "_id" else {
            throw node.error("\"\(key)\" cannot be _id: a document's primary key never changes in place")
        }
        return path
    }

    /// A target inside the source, or the other way round, would change what the step reads.
    private static func checkApart(_ from: FieldPath, _ to: FieldPath, _ node: YAMLNode) throws(JobError) {
        let shared = min(from.components.count, to.components.count)
        guard from.components[..<shared] != to.components[..<shared] else {
            throw node.error("\"\(from)\" and \"\(to)\" overlap: the target must be another field")
        }
    }
}
