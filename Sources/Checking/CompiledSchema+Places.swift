import ServerSchema

/// Where findings can stand, for who names them in a file.
extension CompiledSchema {
    /// The places that the schema names, as reports spell them.
    package var placeNames: [String] { paths.map(\.description) }

    /// Whether a finding of the rule can stand at a place: one that the schema names, one inside a mixed value, or a field
    /// that it does not name.
    package func canReport(_ rule: RuleCode, at path: String) -> Bool {
        if rule == .extraField || rule == .additionalProperty || rule == .reservedField { return true }
        if paths.contains(where: { $0.description == path }) { return true }
        // Constraints, and MongoDB's own dialect, have paths and no nodes here.
        return zip(paths, nodes).contains { place, node in
            let name = place.description
            return node.flags.contains(.mixed) && (path.hasPrefix(name + "[]") || path.hasPrefix(name + "{}"))
        }
    }
}

extension RuleCode {
    /// Every rule that there is.
    package static var known: [RuleCode] { Rule.allCases.map(\.code) }
}
