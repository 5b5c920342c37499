package import BSON
package import LocatedYAML
import ServerSchema

/// Puts the document that a field links to in the link's place: `embed`.
package struct EmbedStep: StepKind {
    package static let key = "embed"

    package let field: FieldPath
    /// The collection of the linked documents, which is only read.
    package let from: Namespace
    /// The field that takes the embedded object; `nil` puts it in the link's place.
    package let into: FieldPath?
    /// The only fields of the linked document that are taken; `nil` takes all but `_id`.
    package let keep: [String]?
    /// Fields of the linked document that are not taken.
    package let omit: [String]
    /// What is to be done with linked documents that no document links to.
    package let orphans: Orphans
    /// What is to be done with linked documents that several documents link to.
    package let shared: Shared

    /// Documents that nothing links to.
    package enum Orphans: String, CaseIterable, Sendable {
        /// The job does not start.
        case refuse
        /// They stay where they are, and nowhere else.
        case leave
    }

    /// Documents that several link to.
    package enum Shared: String, CaseIterable, Sendable {
        /// The job does not start.
        case refuse
        /// The documents that link to them are left alone.
        case leave
        /// Each of these gets a copy.
        case copy
    }

    package var namespaces: [Namespace] { [from] }
    package func moved(from own: String, to database: String) -> Self {
        Self(
            field: field, from: from.moved(from: own, to: database), into: into, keep: keep, omit: omit,
            orphans: orphans, shared: shared)
    }
    package var changesInPlace: Bool { into == nil }
    package var target: FieldPath { into ?? field }
    package var source: FieldPath? { into == nil ? nil : field }

    package var description: String { "embed \(from) at \(field)" + (into.map { " into \($0)" } ?? "") }

    package var loss: String? {
        guard into == nil, keep?.contains("_id") != true else { return nil }
        return "which documents of \(from) the links of \"\(field)\" led to: their _ids are not taken"
    }

    /// What stands in `into` already is compared with what would be written, by the client.
    package func body() -> StepBody {
        let link = Expression.field(field)
        let present = field.isReachable && (link.isLink || link.isList { $0.isLink })
        return StepBody(wanted: present, value: .null, isConcerned: present)
    }

    package var looksAtBeforehand: FieldPath? { field }
    package var clientComputation: (any ClientComputation)? { self }
}

extension EmbedStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(
            of: "\"embed\"", allowed: ["field", "from", "into", "keep", "omit", "orphans", "shared"])
        let field = try members.required("field").fieldPathThroughObjects("field")
        var into: FieldPath?
        if let node = members["into"] {
            let target = try node.fieldPathThroughObjects("into")
            try node.checkApart(field, target)
            into = target
        }
        let names = { (name: String) throws(JobError) -> [String]? in
            guard let node = members[name] else { return .none }
            var names: [String] = []
            for element in try node.elements(of: "\"\(name)\"") { names.append(try element.text(of: "a field")) }
            return names
        }
        let keep = try names("keep")
        if keep != nil, let node = members["omit"] { throw node.error("give either \"keep\" or \"omit\"") }
        self.init(
            field: field, from: try members.required("from").namespace("from"), into: into, keep: keep,
            omit: try names("omit") ?? [],
            orphans: try members["orphans"].map { (node) throws(JobError) in
                try node.choice("orphans") as Orphans
            } ?? .refuse,
            shared: try members["shared"].map { (node) throws(JobError) in
                try node.choice("shared") as Shared
            } ?? .refuse)
    }
}

extension EmbedStep: ClientComputation {
    package var reasons: [CompiledStep.Reason] {
        [.brokenLink] + (shared == .leave ? [.multipleBacklinks] : [])
            + (into == nil ? [] : [.targetDiffers])
    }
}
