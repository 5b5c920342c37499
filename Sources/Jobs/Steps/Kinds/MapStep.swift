package import BSON
package import LocatedYAML

/// Replaces the values of a field by other ones, which a table in the job file gives, in place or into a second field.
package struct MapStep: TargetRuled {
    package static let key = "map"

    /// The handling of a value that the table has no entry for.
    enum Unmapped: String, CaseIterable {
        /// The value stays, and the document is reported.
        case report
        /// The value stays, or is copied to the second field; the document is not reported.
        case keep
    }

    let field: FieldPath
    let values: ValueMap
    var unmapped = Unmapped.report
    /// The field that the new value is written to; `nil` replaces the value in place.
    let into: FieldPath?
    var rule = TargetRule()
    /// The field by which a document records that this step was done in it.
    ///
    /// `nil` if the step recognizes such a document by the new value itself.
    package let once: FieldPath?

    package var target: FieldPath { into ?? field }
    package var source: FieldPath? { into == nil ? nil : field }
    var taken: [FieldPath] { source.map { [$0] } ?? [] }
    package var quick: QuickCondition {
        values.givesAbsent ? QuickCondition() : .present(field, with: into.map { [$0] } ?? [])
    }
    package var readsInside: [FieldPath] { [field, target] }
    package var changesInPlace: Bool { into == nil || rule.whenPresent == .replace }
    package var marker: FieldPath? { once }
    // A new value may equal the old value of another entry of the table. The program cannot exclude this, because the
    // server may compare by a collation that treats different values as equal.
    package var mayBeNeededAgain: Bool { into == nil }

    package var description: String {
        "map values of \(field) by a table of \(values.entries.count)" + (into.map { " into \($0)" } ?? "") + rule.words
            + (once.map { ", once by \($0)" } ?? "")
    }

    package var loss: String? {
        if let into { return rule.loss(into) }
        return values.isOneToOne
            ? "which values of \"\(field)\" were already one of the new values"
            : "which old value \"\(field)\" had, if several become one"
    }

    package var determinesOldValue: Bool { into == nil ? values.isOneToOne : loss == nil }

    package func body() -> StepBody {
        let value = Expression.field(field)
        let present = field.isReachable && !value.isMissingOrNull
        let entry = values.entry(for: value)
        let isMapped = !entry.isMissingOrNull
        let mapped = Expression.let(["entry": entry], in: .variable("entry.to"))
        guard let into else {
            let isKnown = once != nil ? Expression.constant(false) : values.hasTarget(value)
            return StepBody(
                wanted: isMapped, value: mapped, applies: present,
                conflicts: unmapped == .keep ? [] : [(.notInMap, .all([present, !isMapped, !isKnown]))])
        }
        let isReady = field.isReachable && (unmapped == .keep ? .any([isMapped, present]) : isMapped)
        let new = unmapped == .keep ? Expression.choose(if: isMapped, then: mapped, else: value) : mapped
        return StepBody(
            wanted: .all([isReady, rule.isWanted(new, in: into)]), value: rule.written(new, to: into),
            applies: .any([present, isMapped]),
            conflicts: (unmapped == .keep ? [] : [(.notInMap, present && !isMapped)])
                + [rule.conflict(new, in: into, where: isReady)].compactMap(\.self))
    }
}

extension MapStep {
    /// The keys that a `map` step may have, in all its variants.
    static let members =
        ["field", "values", "ignoreCase", "unmapped", "lookup", "key", "value", "into", "once"]
        + YAMLMembers.movingRule

    package static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind] {
        node.hasMember("lookup") ? [try LookupStep(node)] : [try MapStep(node)]
    }

    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"map\"", allowed: Self.members)
        for name in ["key", "value"] {
            if let node = members[name] { throw node.error("\"\(name)\" needs \"lookup\"") }
        }
        field = try members.source()
        let place = try members.required("values")
        values = try ValueMap(place, ignoresCase: try members["ignoreCase"]?.flag("ignoreCase") ?? false)
        unmapped = try members["unmapped"]?.choice("unmapped") ?? .report
        into = try members.target(apartFrom: field)
        rule = try members.targetRule()
        if let node = members["remove"], rule.removes, values.entries.contains(where: { $0.from == .missing }) {
            throw node.error("a removed field is missing, and the table has an entry for that")
        }
        once = try members["once"]?.marker(apartFrom: field)
        guard into == nil || once == nil else {
            throw place.error("\"once\" is for a map in place: with \"into\", the second field shows what is done")
        }
        guard into != nil || once != nil || !values.isChained else {
            throw place.error(
                "an entry leads to a value that another entry maps on, so a second run would change it again: name a "
                    + "field that marks the step as done, like \"once: _mapped\"")
        }
    }
}

extension YAMLMembers {
    /// Reads `field`, which may be `_id` if the step writes to another field.
    func source(anyDepth: Bool = false) throws(JobError) -> FieldPath {
        let node = try required("field")
        let path = try node.sourcePath("field", anyDepth: anyDepth && self["into"] == nil)
        guard self["into"] != nil || path.topLevel != "_id" else {
            throw node.error("\"field\" cannot be _id in place: \"into\" names a second field for the result")
        }
        return path
    }

    /// Reads `into`, the field to which a step writes its result; `nil` if the step changes its field in place.
    /// - Throws: ``JobError``, also for the keys of a ``TargetRule`` without `into`.
    func target(apartFrom field: FieldPath) throws(JobError) -> FieldPath? {
        guard let node = self["into"] else {
            for name in Self.movingRule {
                if let node = self[name] { throw node.error("\"\(name)\" needs \"into\", a second field") }
            }
            return nil
        }
        let target = try node.fieldPathBelowNoList("into")
        try node.checkApart(field, target)
        return target
    }
}
