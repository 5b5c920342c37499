package import ServerSchema

/// What an inferred schema should be like.
package struct InferOptions: Sendable {
    /// Whose rules it is written by.
    package var dialect = Dialect.appServices
    /// The share of the documents read that it must accept, at least: above 0, at most 1.
    package var cover = 1.0
    /// Whether documents that only may stop syncing count as not accepted.
    package var isStrict = false
    /// Whether it lists the values of fields that have only few: these are values of documents.
    package var hasEnums = false
    /// When an object is taken for a dictionary.
    package var dictionaries = DictionaryRule()
    /// What bounds the memory.
    package var limits: PathTree.Limits {
        var limits = PathTree.Limits()
        limits.keepsValues = hasEnums
        return limits
    }

    /// The defaults.
    package init() {}

    /// The documents of so many that need not fit.
    func budget(of documents: Int) -> Int {
        // Not one too many by the rounding of a product.
        var budget = Int((Double(documents) * (1 - cover) + 1e-6).rounded(.down))
        while budget > 0, Double(documents - budget) < Double(documents) * cover - 1e-6 { budget -= 1 }
        return min(max(0, budget), documents)
    }
}

/// When an object is taken for a dictionary, whose keys are data, and not for an embedded object.
package struct DictionaryRule: Hashable, Sendable {
    /// The distinct keys that it has at least.
    package var minimumKeys = 20
    /// The share of the keys that an object has at most, on average.
    package var maximumShare = 0.25
    /// The share of the objects that hold the most common key, at most.
    package var maximumPresence = 0.5
    /// The share of the values, nulls aside, that are of one type, at least.
    package var minimumSameType = 0.99

    /// The defaults.
    package init() {}
}

extension PathTree {
    /// Folds every object that the rule takes for a dictionary, the outermost first; never the documents themselves.
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
