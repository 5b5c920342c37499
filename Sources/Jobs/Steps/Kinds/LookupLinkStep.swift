package import BSON
package import LocatedYAML
import ServerSchema

/// Replaces the values of links by new ones that another collection lists: `remap-link` with `lookup`.
package struct LookupLinkStep: StepKind {
    package static let key = "remap-link"
    /// The field that holds the link or the list of links.
    package let field: FieldPath
    /// The collection that lists the old values with the new ones.
    package let lookup: Namespace
    /// The field in the lookup collection that holds the old value.
    package let old: String
    /// The field in the lookup collection that holds the new value.
    package let new: String

    package var namespaces: [Namespace] { [lookup] }
    package func moved(from own: String, to database: String) -> Self {
        Self(field: field, lookup: lookup.moved(from: own, to: database), old: old, new: new, once: once)
    }
    package var changesInPlace: Bool { true }
    /// The field that marks a document as done; `nil` if the new values themselves show that the step is done.
    package let once: FieldPath?

    package var marker: FieldPath? { once }
    package var target: FieldPath { field }

    package var description: String { "remap-link \(field) by \(lookup)" }

    package var loss: String? {
        "which old value a link of \"\(field)\" had, if \(lookup) gives several the same new one, and which links "
            + "already had a new value"
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        return StepBody(wanted: value.isLink || value.isList { $0.isLink }, value: .null)
    }

    package var clientComputation: ClientComputation? { .lookupLink(self) }
    package var clientReasons: [CompiledStep.Reason] { [.unknownKey, .ambiguousKey] }
}

extension LookupLinkStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"remap-link\"", allowed: RemapLinkStep.members)
        for name in ["map", "unmapped"] {
            if let node = members[name] { throw node.error("give either \"lookup\" or \"\(name)\"") }
        }
        func name(_ key: String, default name: String) throws(JobError) -> String {
            guard let node = members[key] else { return name }
            return try node.ownField(key)
        }
        let field = try members.required("field").fieldPathThroughObjects("field")
        self.init(
            field: field,
            lookup: try members.required("lookup").namespace("lookup"), old: try name("key", default: "_id"),
            new: try name("value", default: "to"),
            once: try members["once"]?.marker(apartFrom: field))
        guard old != new else { throw node.error("\"key\" and \"value\" must be two fields") }
    }
}
