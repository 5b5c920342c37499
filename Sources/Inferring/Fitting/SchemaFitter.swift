import BSON
import ServerSchema

/// Decides what a schema declares for each path, so that the schema refuses no more documents than the options allow.
///
/// The fitter begins with a schema that accepts every document, unless the schema declares a type for `_id` that a
/// document's `_id` does not have. The budget is the number of documents that the schema is allowed to refuse. The
/// fitter makes the schema stricter step by step, always with the cheapest step, until the next step costs more than
/// what is left of the budget. The cost of a step is the number of values that no longer fit, or the number of all
/// documents if that is smaller. The sum of the costs is therefore an upper bound for the number of refused documents.
///
/// A lower ``InferOptions/cover`` gives a larger budget, and a larger budget allows the same steps and more. A schema
/// for a lower cover therefore never accepts a document that the schema for a higher cover refuses.
struct SchemaFitter {
    let tree: PathTree
    let options: InferOptions
    /// The number of documents that the schema is still allowed to refuse.
    private(set) var budget: Int
    private(set) var plans: [Int: Plan] = [:]
    /// The steps that could still make the schema stricter, the most expensive first.
    private var pending: [Tightening] = []
    private var order = 0

    /// The largest number of levels that a schema describes, not counting the document itself; the contents of objects
    /// and arrays on the last level are left out.
    static var maximumLevel: Int { 32 }

    init(_ tree: PathTree, _ options: InferOptions, cover: Double? = nil) {
        var options = options
        if let cover { options.cover = cover }
        var tree = tree
        tree.foldDictionaries(options.dictionaries)
        self.tree = tree
        self.options = options
        budget = options.budget(of: tree.documents)
        plans[0] = Plan(types: [.object])
        openObject(0, level: 0)
        while let next = pending.last, next.cost <= budget {
            pending.removeLast()
            take(next)
        }
    }

    var isAppServices: Bool { options.dialect == .appServices }

    private mutating func take(_ step: Tightening) {
        switch step.action {
        case .declare(let node, let type, let place, let level):
            budget -= step.cost
            plans[node] = Plan(types: [type])
            open(node, as: type, level: level)
            offerRequirement(of: node, place)
        case .declareMixed(let node):
            guard plans[node] == nil else { return }
            budget -= step.cost
            plans[node] = .mixed
        case .drop(let node, let type):
            guard let plan = plans[node], plan.types.count > 1 else { return }
            budget -= step.cost
            plans[node]?.types = plan.types.filter { $0 != type }
        case .require(let node):
            budget -= step.cost
            plans[node]?.isRequired = true
        }
    }

    mutating func offer(_ cost: Int, _ action: Tightening.Action) {
        order += 1
        let step = Tightening(cost: min(cost, tree.documents), order: order, action: action)
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if pending[middle] < step { high = middle } else { low = middle + 1 }
        }
        pending.insert(step, at: low)
    }

    mutating func decide(_ node: Int, _ plan: Plan) { plans[node] = plan }

    /// Decides what the schema declares for the values inside an object or an array; does nothing for any other type.
    mutating func open(_ node: Int, as type: SchemaType, level: Int) {
        switch type {
        case .object: openObject(node, level: level)
        case .array: openArray(node, level: level)
        default: break
        }
    }

    private mutating func openObject(_ node: Int, level: Int) {
        guard level < Self.maximumLevel else { return }
        let holder = tree.nodes[node]
        for position in tree.sortedKeys(of: node) {
            let child = holder.keys.nodes[position]
            parents[child] = node
            let isID = node == 0 && holder.keys.name(position).elementsEqual("_id".utf8)
            guard isDescribable(holder.keys.name(position)) else { continue }
            fit(at: child, isID ? .id : .field, level: level + 1)
        }
        if holder.isFolded, node != 0 { fit(at: holder.values, .value, level: level + 1) }
    }

    private mutating func openArray(_ node: Int, level: Int) {
        let items = tree.nodes[node].items
        if items >= 0, level < Self.maximumLevel { fit(at: items, .element, level: level + 1) }
    }

    /// For the node of each field, the node of the object that contains the field.
    private(set) var parents: [Int: Int] = [:]

    private mutating func fit(at node: Int, _ place: Place, level: Int) {
        if isAppServices { fitForApp(node, place, level: level) } else { fitForServer(node, place, level: level) }
    }
}

extension PathTree {
    /// Returns the positions of an object's fields in its key table, sorted: `_id` first, then by the bytes of the
    /// names.
    func sortedKeys(of node: Int) -> [Int] {
        let keys = nodes[node].keys
        let names = (0..<keys.count).map { (position: $0, name: Array(keys.name($0))) }
        let id = Array("_id".utf8)
        return names.sorted { left, right in
            if (left.name == id) != (right.name == id) { return left.name == id }
            return left.name.lexicographicallyPrecedes(right.name)
        }.map(\.position)
    }
}
