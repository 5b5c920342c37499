import ServerSchema

/// The decisions for an App Services schema, which declares one type or `mixed` for a path.
extension SchemaFitter {
    mutating func fitForApp(_ node: Int, _ place: Place, level: Int) {
        let found = tree.nodes[node]
        guard let best = bestType(of: found, place) else {
            // No type is allowed, for example because all values are null. A field with such values is left out of the
            // schema. The elements of an array and the values of a dictionary may get the type `mixed`.
            if place == .element || place == .value { offerMixed(node) }
            return
        }
        if level >= Self.maximumLevel, [.object, .array].contains(best.type) {
            if place != .id { offerMixed(node) }
            return
        }
        // A primary key always gets a type, even if documents are refused because of it.
        if place == .id { return declareID(node, best.type) }
        offer(best.cost, .declare(node: node, best.type, place, level: level))
        if best.cost > 0 { offerMixed(node) }
    }

    private mutating func declareID(_ node: Int, _ type: SchemaType) {
        decide(node, Plan(types: [type]))
        offerRequirement(of: node, .id)
    }

    /// Adds a pending step that declares `mixed`; its cost is 0 if `mixed` accepts all values.
    private mutating func offerMixed(_ node: Int) { offer(mixedCost(node), .declareMixed(node: node)) }

    /// Returns the type that refuses the fewest values, with the number of these values; `nil` if no type is allowed.
    ///
    /// With `isStrict`, values that the type might refuse count as well.
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

    /// Whether App Services allows the type at this position: few types can be primary keys, and an element of a list
    /// or a value of a dictionary cannot be a list or a dictionary itself.
    private func isAllowed(_ type: SchemaType, of node: PathNode, _ place: Place) -> Bool {
        switch place {
        case .id: [.string, .int, .long, .objectId, .uuid].contains(type)
        case .element, .value: type != .array && !(type == .object && isDictionary(node))
        case .root, .field: true
        }
    }

    /// Whether the schema declares an object as a dictionary.
    ///
    /// It does if the survey has combined the object's fields, or if a schema can describe none of the fields' names.
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

    /// Returns the number of values at a node and below it that `mixed` refuses.
    ///
    /// With `isStrict`, values that `mixed` might refuse count as well.
    private func mixedCost(_ node: Int) -> Int {
        let found = tree.nodes[node]
        var sum = options.isStrict ? found.oddKeys : 0
        for (kind, count) in found.kinds
        where kind.mixedFitness == .fails || options.isStrict && kind.mixedFitness == .possible {
            sum += count
        }
        // `mixed` limits the depth of nesting. It is unknown how many values exceed the limit, so all objects and
        // arrays are counted.
        if found.height > 100 { sum += found.count(of: .object) + found.count(of: .array) }
        for child in found.keys.nodes { sum += mixedCost(child) }
        if found.items >= 0 { sum += mixedCost(found.items) }
        if found.isFolded { sum += mixedCost(found.values) }
        return sum
    }
}
