package import BSON
package import LocatedYAML
import ServerSchema
import Yams

/// Replaces the values of a field by those that another collection lists, or copies values of the documents there into
/// other fields: `map` with `lookup`.
package struct LookupStep: StepKind {
    package static let key = "map"
    /// The field that holds the key or the list of keys.
    package let field: FieldPath
    /// The collection that is looked up.
    package let lookup: Namespace
    /// The field in the lookup collection that holds the key.
    package let old: String
    /// The fields in the lookup collection whose values are taken over, each with the field that it is written to.
    ///
    /// The only target of a step in place is ``field``.
    package let taken: [Taken]
    /// Whether the step writes other fields than ``field``.
    package let isInto: Bool
    package let whenPresent: WhenPresent
    /// The field that marks a document as done; `nil` if the new values themselves show that the step is done.
    package let once: FieldPath?

    /// A value that the step takes over from a document of the lookup collection.
    package struct Taken: Hashable, Sendable {
        package let name: String
        package let target: FieldPath
    }

    /// The fields by whose values the step finds documents of the lookup collection.
    ///
    /// A step in place also looks for values that are already new ones.
    package var searched: [String] { [old] + (isInto ? [] : taken.map(\.name)) }

    package var namespaces: [Namespace] { [lookup] }
    package func moved(from own: String, to database: String) -> Self {
        Self(
            field: field, lookup: lookup.moved(from: own, to: database), old: old, taken: taken, isInto: isInto,
            whenPresent: whenPresent, once: once)
    }
    package var changesInPlace: Bool { !isInto || whenPresent == .replace }
    package var marker: FieldPath? { once }
    package var target: FieldPath { taken[0].target }
    package var targets: [FieldPath] { taken.map(\.target) }
    package var source: FieldPath? { isInto ? field : nil }

    package var description: String {
        isInto
            ? "map \(field) by \(lookup) into \(targets.map(\.description).joined(separator: ", "))"
            : "map \(field) by \(lookup)"
    }

    package var loss: String? {
        if isInto {
            return whenPresent == .replace
                ? "the earlier values of \(targets.map { "\"\($0)\"" }.joined(separator: ", "))" : nil
        }
        return "which old value \"\(field)\" had, if \(lookup) gives several the same new one, and which values were "
            + "already new ones"
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        let isKey = isInto ? value.isLink : value.isLink || value.isList { $0.isLink }
        return StepBody(
            wanted: field.isReachable && isKey, value: .null, also: targets.dropFirst().map { ($0, .null) },
            applies: field.isReachable && isKey,
            // A list of keys, for example, has no single value to copy.
            conflicts: isInto ? [(.wrongType, field.isReachable && !value.isMissingOrNull && !isKey)] : [])
    }

    package var clientComputation: ClientComputation? { .lookup(self) }
    package var clientReasons: [CompiledStep.Reason] {
        [.unknownKey, .ambiguousKey] + (isInto && whenPresent == .report ? [.targetDiffers] : [])
    }
}

extension LookupStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"map\"", allowed: MapStep.members)
        for name in ["values", "unmapped", "ignoreCase", "when", "remove"] {
            if let node = members[name] { throw node.error("\"\(name)\" cannot stand beside \"lookup\"") }
        }
        field = try members.source()
        lookup = try members.required("lookup").namespace("lookup")
        old = try members["key"]?.ownField("key") ?? "_id"
        isInto = members["into"] != nil
        taken = try Self.taken(members, apartFrom: field)
        whenPresent = try members["whenPresent"]?.choice("whenPresent") ?? .report
        once = try members["once"]?.marker(apartFrom: field)
        if let node = members["whenPresent"], !isInto || whenPresent == .refresh {
            throw node.error(
                isInto ? "\"whenPresent\" must be report, keep or replace here" : "\"whenPresent\" needs \"into\"")
        }
        if let node = members["once"], isInto {
            throw node.error("\"once\" is for a lookup in place: with \"into\", the other fields show what is done")
        }
        guard isInto || old != taken[0].name else { throw node.error("\"key\" and \"value\" must be two fields") }
    }

    private static func taken(_ members: YAMLMembers, apartFrom field: FieldPath) throws(JobError) -> [Taken] {
        let value = try members["value"]?.ownField("value") ?? "to"
        guard let into = members["into"] else { return [Taken(name: value, target: field)] }
        func target(_ node: YAMLNode, _ name: String) throws(JobError) -> Taken {
            let target = try node.fieldPathBelowNoList("into")
            try node.checkApart(field, target)
            return Taken(name: name, target: target)
        }
        guard let mapping = into.node.mapping, !mapping.isEmpty else { return [try target(into, value)] }
        if let node = members["value"] { throw node.error("\"into\" names the fields: leave out \"value\"") }
        var taken: [Taken] = []
        for (key, place) in mapping {
            let place = YAMLNode(node: place, file: into.file)
            let name = try YAMLNode(node: key, file: into.file).ownField("into")
            let next = try target(place, name)
            for other in taken { try place.checkApart(other.target, next.target) }
            taken.append(next)
        }
        return taken
    }
}
