import ServerSchema

/// What an App Services schema can say: one type, or `mixed`.
extension SchemaFitter {
    mutating func lookForApp(_ node: Int, _ place: Place, level: Int) {
        let found = tree.nodes[node]
        guard let best = bestType(of: found, place) else {
            // Nothing but null, or what clients have no type for: a field is left out, an element may be anything.
            if place == .element || place == .value { offerMixed(node) }
            return
        }
        if level >= Self.maximumLevel, [.object, .array].contains(best.type) {
            if place != .id { offerMixed(node) }
            return
        }
        // A primary key has a type, whatever that costs.
        if place == .id { return declareID(node, best.type) }
        offer(best.cost, .declare(node: node, best.type, place, level: level))
        if best.cost > 0 { offerMixed(node) }
    }

    private mutating func declareID(_ node: Int, _ type: SchemaType) {
        settle(node, Plan(types: [type]))
        offerRequirement(of: node, .id)
    }

    /// Offers `mixed`: for nothing, where it accepts all that is there.
    private mutating func offerMixed(_ node: Int) { offer(mixedCost(node), .declareMixed(node: node)) }

    /// The type that refuses the fewest values.
    private func bestType(of node: PathNode, _ place: Place) -> (type: SchemaType, cost: Int)? {
        var best: (type: SchemaType, cost: Int, possible: Int)?
        for (type, _) in node.types(by: \.type) where ValueKind.declarable.contains(type) {
            guard isAllowed(type, of: node, place) else { continue }
            let (failing, possible) = cost(of: type, node, place)
            let total = options.isStrict ? failing + possible : failing
            if let held = best, (held.cost, held.possible) <= (total, possible) { continue }
            best = (type, total, possible)
        }
        return best.map { ($0.type, $0.cost) }
    }

    /// Whether App Services has the type at that place: keys are few types, and no collection stands in another.
    private func isAllowed(_ type: SchemaType, of node: PathNode, _ place: Place) -> Bool {
        switch place {
        case .id: [.string, .int, .long, .objectId, .uuid].contains(type)
        case .element, .value: type != .array && !(type == .object && isDictionary(node))
        case .root, .field: true
        }
    }

    /// Whether an object is written as a dictionary: its keys are many, or there are none that a schema can name.
    func isDictionary(_ node: PathNode) -> Bool {
        node.isFolded || !(0..<node.keys.count).contains { isDescribable(node.keys.name($0)) }
    }

    private func cost(of type: SchemaType, _ node: PathNode, _ place: Place) -> (failing: Int, possible: Int) {
        var (failing, possible) = (0, 0)
        for (kind, count) in node.kinds {
            switch kind == .null ? nullFitness(type, place) : kind.fitness(for: type, isID: place == .id) {
            case .fits: break
            case .possible: possible += count
            case .fails: failing += count
            }
        }
        if type == .object { possible += node.oddKeys }
        return (failing, possible)
    }

    private func nullFitness(_ type: SchemaType, _ place: Place) -> Fitness {
        switch place {
        case .root, .field: .fits
        case .id: .possible
        case .element: .fails
        case .value: type == .object ? .fits : .possible
        }
    }

    /// The values at a node and below it that `mixed` refuses.
    private func mixedCost(_ node: Int) -> Int {
        let found = tree.nodes[node]
        var sum = options.isStrict ? found.oddKeys : 0
        for (kind, count) in found.kinds
        where kind.mixedFitness == .fails || options.isStrict && kind.mixedFitness == .possible {
            sum += count
        }
        // How many of them are nested more deeply than `mixed` may be is not known: all, at worst.
        if found.height > 100 { sum += found.count(of: .object) + found.count(of: .array) }
        for child in found.keys.nodes { sum += mixedCost(child) }
        if found.items >= 0 { sum += mixedCost(found.items) }
        if found.isFolded { sum += mixedCost(found.values) }
        return sum
    }
}
