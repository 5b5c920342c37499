package import BSON
package import LocatedYAML
import ServerSchema

/// Replaces links by copies of the documents that they lead to, or writes the copies to another field: `embed`.
package struct EmbedStep: StepKind {
    package static let key = "embed"

    /// The field that holds the link or the list of links.
    package let field: FieldPath
    /// The collection that the links lead to; the job only reads it.
    package let from: Namespace
    /// The field that the embedded object is written to; `nil` if the object replaces the link.
    package let into: FieldPath?
    /// The only fields of the linked document that are embedded; `nil` embeds all but `_id` and ``omit``.
    package let keep: [String]?
    /// The fields of the linked document that are not embedded, in addition to `_id`; empty if ``keep`` is given.
    package let omit: [String]
    /// The handling of documents in the linked collection that no document links to.
    package let orphans: Orphans
    /// The handling of documents in the linked collection to which several links lead.
    package let shared: Shared

    /// The handling of a document that no document links to.
    package enum Orphans: String, CaseIterable, Sendable {
        /// The job does not start if the linked collection has a document that no document links to.
        case refuse
        /// A document that no document links to stays in its collection, and is not embedded.
        case leave
    }

    /// The handling of a document to which several links lead.
    ///
    /// The links may be in one document or in several. A link counts if it is in the step's field, or in any field that
    /// the job's schema declares as a link to the collection.
    package enum Shared: String, CaseIterable, Sendable {
        /// The job does not start if several links lead to the same document.
        case refuse
        /// All documents with a link to the shared document are skipped.
        case leave
        /// Each link to the shared document gets its own copy of the document.
        case copy
    }

    package var namespaces: [Namespace] { [from] }
    package var embeddedCollection: Namespace? { from }
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
        return "which documents of \(from) the links of \"\(field)\" led to (their _ids are not copied)"
    }

    /// Returns conditions that only find the documents with links.
    ///
    /// The client does everything else, because only the client reads the linked documents. The client also compares
    /// the embedded object with the value that the field ``into`` already has.
    package func body() -> StepBody {
        let link = Expression.field(field)
        let present = field.isReachable && (link.isLink || link.isList { $0.isLink })
        return StepBody(wanted: present, value: .null, applies: present)
    }

    package var readsBeforehand: FieldPath? { field }
    package var clientComputation: ClientComputation? { .embed(self) }
    package var clientReasons: [CompiledStep.Reason] {
        [.brokenLink] + (shared == .leave ? [.multipleBacklinks] : [])
            + (into == nil ? [] : [.targetDiffers])
    }
}

extension EmbedStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(
            of: "\"embed\"", allowed: ["field", "from", "into", "keep", "omit", "orphans", "shared"])
        let field = try members.required("field").fieldPath("field")
        var into: FieldPath?
        if let node = members["into"] {
            let target = try node.fieldPathBelowNoList("into")
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
