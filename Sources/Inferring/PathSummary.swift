package import BSON
package import ServerSchema

/// A summary of the values at one path, and of what the schema declares for that path.
package struct PathSummary: Sendable {
    package let path: SchemaPath
    /// The types of the values, each with the number of its values, and the most common type first.
    ///
    /// Null is one of the types.
    package let types: [(type: SchemaType, count: Int)]
    package let values: Int
    /// The number of objects that have the field, and the number of objects that could have it; `nil` for elements of
    /// arrays and values of dictionaries.
    package let presence: (count: Int, of: Int)?
    /// The types that the schema declares for the path; empty if it leaves the path out.
    package let declared: [SchemaType]
    package let isRequired: Bool
    /// Whether the schema declares the objects at the path as dictionaries.
    package let isDictionary: Bool
    /// The largest number of elements in an array at the path; `nil` if there is no array.
    package let longestArray: Int?
    /// Likely mistakes in the data, and other things to consider before the schema is used.
    package let suspicions: [Suspicion]
    /// The values that the schema could list in an enum; `nil` if no enums were requested, if not all values were kept,
    /// or if they are too many, too long, too rare or of several types.
    package let candidates: [BSONValue]?

    package var nulls: Int { types.first { $0.type == .null }?.count ?? 0 }

    /// Returns the summaries of all paths, with the fields of an object in the order of the schema.
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
