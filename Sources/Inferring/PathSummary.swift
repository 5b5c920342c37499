package import BSON
package import ServerSchema

/// What was found at one path, and what the schema says of it.
package struct PathSummary: Sendable {
    /// Where.
    package let path: SchemaPath
    /// The types, the most common first, null among them, with the number of values.
    package let types: [(type: SchemaType, count: Int)]
    /// How many values were met.
    package let values: Int
    /// Of the objects that could hold the field, those that do; `nil` for elements and a dictionary's values.
    package let presence: (count: Int, of: Int)?
    /// The types that the schema declares; none where it leaves the path out.
    package let declared: [SchemaType]
    /// Whether the schema requires the field.
    package let isRequired: Bool
    /// Whether the object is written as a dictionary.
    package let isDictionary: Bool
    /// The most elements of an array; `nil` where there is none.
    package let longestArray: Int?
    /// What looks like a mistake, or is worth a thought.
    package let suspicions: [Suspicion]
    /// The values that an enum could list; `nil` where they were not kept, or are no candidate.
    package let candidates: [BSONValue]?

    /// The share of the values that are null.
    package var nulls: Int { types.first { $0.type == .null }?.count ?? 0 }

    /// Every path, the fields of an object as in the schema.
    static func all(of fitter: SchemaFitter) -> [PathSummary] {
        var rows: [PathSummary] = []
        collect(0, SchemaPath(), parent: nil, fitter, into: &rows)
        return rows
    }

    private static func collect(
        _ node: Int, _ path: SchemaPath, parent: Int?, _ fitter: SchemaFitter, into rows: inout [PathSummary]
    ) {
        let found = fitter.tree.nodes[node]
        if !path.isRoot { rows.append(PathSummary(found, at: path, node: node, parent: parent, fitter)) }
        for position in fitter.tree.sortedKeys(of: node) {
            let name = String(decoding: found.keys.name(position), as: UTF8.self)
            let child = found.keys.nodes[position]
            collect(child, SchemaPath(path.steps + [.field(name)]), parent: node, fitter, into: &rows)
        }
        if found.isFolded {
            collect(found.values, SchemaPath(path.steps + [.values]), parent: nil, fitter, into: &rows)
        }
        if found.items >= 0 {
            collect(found.items, SchemaPath(path.steps + [.elements]), parent: nil, fitter, into: &rows)
        }
    }

    private init(_ found: PathNode, at path: SchemaPath, node: Int, parent: Int?, _ fitter: SchemaFitter) {
        self.path = path
        types = found.types(by: \.type)
        values = found.total
        presence = parent.map { (found.presence, fitter.tree.nodes[$0].count(of: .object)) }
        let plan = fitter.plans[node]
        declared = plan?.types ?? []
        isRequired = plan?.isRequired ?? false
        isDictionary =
            plan?.types == [.object] && (found.isFolded || fitter.isAppServices && fitter.isDictionary(found))
        longestArray = found.count(of: .array) > 0 ? found.longestArray : nil
        suspicions = Suspicion.all(of: found, types, presence: presence)
        candidates = fitter.options.hasEnums ? EnumRule().candidates(of: found) : nil
    }
}
