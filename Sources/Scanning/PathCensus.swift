package import BSON
package import Mongo
package import ServerSchema

/// Counts, with one aggregation, how many documents of a collection have values of each type at given paths.
///
/// The counts are exact: the aggregation looks into arrays and dictionaries on a path. A document counts once for each
/// path, even if it has many values at the path.
package struct PathCensus {
    package struct Count: Sendable {
        package var documents = 0
        /// The number of documents with a value at the path, including null.
        package var withField = 0
        /// The number of documents in which the path's last field is missing or null in at least one parent object.
        package var withoutField = 0
        /// The number of documents with a value of each type at the path, by the type's BSON name.
        package var types: [String: Int] = [:]
    }

    private let paths: [SchemaPath]

    /// Prepares to count the values at these paths.
    /// - Parameter paths: The paths; the root path counts all documents.
    package init(of paths: [SchemaPath]) { self.paths = paths }

    /// Returns the counts for each path; a collection that does not exist counts as empty.
    /// - Throws: ``MongoError``.
    package func counts(in namespace: Namespace, on client: borrowing Client) throws(MongoError) -> [Count] {
        var counts = paths.map { _ in Count() }
        let options: BSONDocument = ["allowDiskUse": true, "collation": ["locale": "simple"]]
        var cursor = client.collection(namespace).aggregate(pipeline, options: options)
        while let row = try cursor.nextDocument() {
            guard let key = row["_id"]?.document, let place = key["p"]?.integer, counts.indices.contains(place),
                let number = row["n"]?.integer, let found = key["t"]?.document?.values.compactMap(\.text)
            else { continue }
            counts[place].documents += number
            if found.contains(where: { $0 != Self.missing }) { counts[place].withField += number }
            if found.contains(Self.missing) || found.contains("null") { counts[place].withoutField += number }
            for type in Set(found) where type != Self.missing { counts[place].types[type, default: 0] += number }
        }
        return counts
    }

    /// The type that `$type` returns for a missing field.
    private static let missing = "missing"

    /// The stages that return, for each path and each set of types of its values, the number of documents.
    private var pipeline: [BSONDocument] {
        let places = paths.enumerated().map { number, path -> BSONValue in
            ["p": .long(Int64(number)), "t": Self.types(of: "$$ROOT", path.steps[...], depth: 0)]
        }
        return [
            ["$project": ["_id": false, "places": .array(of: places)]], ["$unwind": "$places"],
            ["$group": ["_id": "$places", "n": ["$sum": 1]]],
        ]
    }

    /// Returns an expression for the set of the types of all values at the path `steps` inside `value`.
    private static func types(of value: BSONValue, _ steps: ArraySlice<SchemaPath.Step>, depth: Int) -> BSONValue {
        let name = "v\(depth)"
        let here: BSONValue = .string("$$\(name)")
        let found: BSONValue
        switch steps.first {
        case nil: found = .array(of: [["$type": here]])
        case .field(let field):
            let rest = types(of: .field(field, of: here), steps.dropFirst(), depth: depth + 1)
            found = here.ifType("object", then: rest)
        case .elements: found = here.ifType("array", then: union(of: here, steps.dropFirst(), depth))
        case .values:
            let values: BSONValue = ["$map": ["input": ["$objectToArray": here], "in": "$$this.v"]]
            found = here.ifType("object", then: union(of: values, steps.dropFirst(), depth))
        }
        return ["$let": ["vars": [name: value], "in": found]]
    }

    private static func union(of values: BSONValue, _ steps: ArraySlice<SchemaPath.Step>, _ depth: Int) -> BSONValue {
        let inner = types(of: "$$this", steps, depth: depth + 1)
        return [
            "$reduce": [
                "input": values, "initialValue": .array(of: []),
                "in": ["$setUnion": .array(of: ["$$value", inner])],
            ]
        ]
    }
}

extension BSONValue {
    /// Returns an expression whose result is `found` if this value has the type `wanted`, and an empty list otherwise.
    func ifType(_ wanted: String, then found: BSONValue) -> BSONValue {
        ["$cond": .array(of: [["$eq": .array(of: [["$type": self], .string(wanted)])], found, .array(of: [])])]
    }

    /// Returns an expression for the value of the field `name` of an object.
    ///
    /// MongoDB would read a name with a dot, for example, as a path. For such a name, the expression searches the
    /// object's fields.
    static func field(_ name: String, of value: BSONValue) -> BSONValue {
        if case .string(let variable) = value, !name.isEmpty, !name.contains("."), !name.hasPrefix("$") {
            return .string("\(variable).\(name)")
        }
        let isNamed: BSONValue = ["$eq": .array(of: ["$$this.k", ["$literal": .string(name)]])]
        let fields: BSONValue = ["$filter": ["input": ["$objectToArray": value], "cond": isNamed]]
        let found: BSONValue = ["$arrayElemAt": .array(of: [fields, 0])]
        return ["$let": ["vars": ["field": found], "in": "$$field.v"]]
    }
}
