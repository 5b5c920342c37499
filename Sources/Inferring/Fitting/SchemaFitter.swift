import BSON
import ServerSchema

/// Decides what a schema declares for each path, so that it refuses no more documents than allowed.
///
/// It begins with a schema that accepts every document, and tightens it step by step, the cheapest step first, until
/// the next step would cost more than the rest of the budget. A cost is a number of values that would not fit, which is
/// at least the number of their documents; so the sum of the costs bounds the documents refused, however they overlap.
/// A larger budget takes the same steps and then further ones, so a lower cover never accepts a document that a higher
/// one refuses.
struct SchemaFitter {
    let tree: PathTree
    let options: InferOptions
    /// The number of documents that may still be refused.
    private(set) var budget: Int
    private(set) var plans: [Int: Plan] = [:]
    /// The steps that can be taken, the most expensive first.
    private var pending: [Tightening] = []
    private var order = 0

    /// The number of levels below the documents that a schema describes; deeper levels are left open.
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

    mutating func settle(_ node: Int, _ plan: Plan) { plans[node] = plan }

    /// Continues inside the values if the type is an object or an array.
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
            look(at: child, isID ? .id : .field, level: level + 1)
        }
        if holder.isFolded, node != 0 { look(at: holder.values, .value, level: level + 1) }
    }

    private mutating func openArray(_ node: Int, level: Int) {
        let items = tree.nodes[node].items
        if items >= 0, level < Self.maximumLevel { look(at: items, .element, level: level + 1) }
    }

    /// The nodes of the objects that hold the fields, by the nodes of the fields.
    private(set) var parents: [Int: Int] = [:]

    private mutating func look(at node: Int, _ place: Place, level: Int) {
        if isAppServices { lookForApp(node, place, level: level) } else { lookForServer(node, place, level: level) }
    }
}

extension PathTree {
    /// Returns the positions of an object's fields: `_id` first, then by name, byte by byte.
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
