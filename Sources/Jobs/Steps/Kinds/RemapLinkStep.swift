package import BSON
package import LocatedYAML

/// Replaces the values of links by new ones, which a map in the job file gives.
package struct RemapLinkStep: StepKind {
    package static let key = "remap-link"

    /// The handling of a link that the map has no entry for.
    enum Unmapped: String, CaseIterable {
        /// A link that the map has no entry for stays, and the document is reported.
        case report
        /// A link that the map has no entry for stays, and the document is not reported.
        case keep
    }

    let field: FieldPath
    let map: LinkMap
    var unmapped = Unmapped.report
    /// The field by which a document records that this step was done in it.
    ///
    /// `nil` if the step recognizes such a document by the new value of the link itself.
    package let once: FieldPath?

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var readsInside: [FieldPath] { [field] }
    package var changesInPlace: Bool { true }
    package var marker: FieldPath? { once }
    // A new value may equal the old value of another entry of the map. The program cannot exclude this, because the
    // server may compare by a collation that treats different values as equal. The answer is therefore always `true`.
    package var mayBeNeededAgain: Bool { true }

    package var description: String {
        "replace values of \(field) by a map of \(map.entries.count)" + (once.map { ", once by \($0)" } ?? "")
    }

    package var loss: String? {
        map.isOneToOne
            ? "which values of \"\(field)\" were already one of the new values"
            : "which old value \"\(field)\" had, if several become one"
    }

    package var determinesOldValue: Bool { map.isOneToOne }

    package func body() -> StepBody {
        let link = Expression.field(field)
        let present = !link.isMissingOrNull
        let entry = map.entry(for: link)
        let isMapped = !entry.isMissingOrNull
        let isKnown = once != nil ? Expression.constant(false) : map.hasTarget(link)
        return StepBody(
            wanted: present && isMapped, value: .let(["entry": entry], in: .variable("entry.to")),
            conflicts: unmapped == .keep ? [] : [(.notInMap, .all([present, !isMapped, !isKnown]))])
    }
}

extension RemapLinkStep {
    /// The keys that a `remap-link` step may have, in all its variants.
    static let members = ["field", "map", "unmapped", "lookup", "key", "value", "once"]

    package static func read(_ node: YAMLNode) throws(JobError) -> any StepKind {
        node.hasMember("lookup") ? try LookupLinkStep(node) : try RemapLinkStep(node)
    }

    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"remap-link\"", allowed: Self.members)
        for name in ["key", "value"] {
            if let node = members[name] { throw node.error("\"\(name)\" needs \"lookup\"") }
        }
        field = try members.required("field").fieldPath("field")
        let place = try members.required("map")
        map = try LinkMap(place)
        unmapped = try members["unmapped"]?.choice("unmapped") ?? .report
        once = try members["once"]?.marker(apartFrom: field)
        guard once != nil || !map.isChained else {
            throw place.error(
                "an entry leads to a value that another entry maps on, so a second run would change it again: name a "
                    + "field that marks the step as done, like \"once: _remapped\"")
        }
    }
}
