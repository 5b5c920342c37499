package import ServerSchema

package struct InferOptions: Sendable {
    /// The dialect that the schema is written in.
    package var dialect = Dialect.appServices
    /// The smallest share of the documents read that the schema must accept: above 0 and at most 1.
    package var cover = 1.0
    /// Whether a document that might stop syncing under the schema counts as a document that the schema does not
    /// accept.
    package var isStrict = false
    /// Whether the schema lists the values of fields that have only few distinct values; the schema file then contains
    /// data from documents.
    package var hasEnums = false
    /// The rule that decides which objects are dictionaries and not embedded objects.
    package var dictionaries = DictionaryRule()
    /// The limits on the memory of a survey.
    package var limits: PathTree.Limits {
        var limits = PathTree.Limits()
        limits.keepsValues = hasEnums
        return limits
    }

    package init() {}

    /// Returns how many of the given number of documents the schema may refuse.
    func budget(of documents: Int) -> Int {
        // The product is rounded, so the budget may be one document too large; the loop corrects that.
        var budget = Int((Double(documents) * (1 - cover) + 1e-6).rounded(.down))
        while budget > 0, Double(documents - budget) < Double(documents) * cover - 1e-6 { budget -= 1 }
        return min(max(0, budget), documents)
    }
}

/// The rule that decides whether an object is a dictionary, whose keys are data, or an embedded object.
package struct DictionaryRule: Hashable, Sendable {
    /// The smallest number of distinct keys, counted over all objects at a path, for the objects to be dictionaries.
    package var minimumKeys = 20
    /// The largest allowed average number of keys in an object at a path, as a share of the distinct keys at the path.
    ///
    /// If all objects at the path together have 100 distinct keys, and the share is 0.25, an object may have at most 25
    /// keys on average.
    package var maximumShare = 0.25
    /// The share of the objects at a path that may contain the path's most common key.
    ///
    /// If more objects contain it, the objects are not dictionaries.
    package var maximumPresence = 0.5
    /// The share of the values in the objects at a path that must have the same type; nulls do not count.
    ///
    /// If fewer values have the same type, the objects are not dictionaries.
    package var minimumSameType = 0.99

    package init() {}
}

extension PathTree {
    /// Folds every object that is a dictionary by the rule, from the outermost inwards, but never the documents
    /// themselves.
    ///
    /// Folding combines the values of all keys, as if they were values of one field.
    mutating func foldDictionaries(_ rule: DictionaryRule, at node: Int = 0) {
        if node != 0, !nodes[node].isFolded, isDictionary(node, rule) { fold(node) }
        for child in nodes[node].keys.nodes { foldDictionaries(rule, at: child) }
        if nodes[node].items >= 0 { foldDictionaries(rule, at: nodes[node].items) }
        if nodes[node].isFolded { foldDictionaries(rule, at: nodes[node].values) }
    }

    private func isDictionary(_ node: Int, _ rule: DictionaryRule) -> Bool {
        let children = nodes[node].keys.nodes.map { nodes[$0] }
        guard children.count >= rule.minimumKeys else { return false }
        let objects = Double(nodes[node].count(of: .object))
        let presences = children.map { Double($0.presence) }
        guard presences.reduce(0, +) <= rule.maximumShare * objects * Double(children.count),
            (presences.max() ?? 0) <= rule.maximumPresence * objects
        else { return false }
        var counts: [SchemaType: Int] = [:]
        for child in children { for (kind, count) in child.kinds { counts[kind.type, default: 0] += count } }
        counts[.null] = nil
        let all = counts.values.reduce(0, +)
        return Double(counts.values.max() ?? 0) >= rule.minimumSameType * Double(all)
    }
}
