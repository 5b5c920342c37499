import BSON
package import Checking
package import Mongo
package import ServerSchema

/// The undeclared fields of failing documents that may be meant for a missing field, such as `firstName` for
/// `first_name`.
package struct UndeclaredNames: Sendable {
    /// The number of failing documents whose names are read for each missing field.
    private static let sample = 1_000

    /// The names, by the collection and the missing field.
    private var names: [Namespace: [String: String]] = [:]

    /// Knows no names.
    package init() {}

    /// Reads names from the documents in which a check found missing fields.
    package init(of report: CheckReport, _ schema: ServerSchema, on client: borrowing Client) throws(MongoError) {
        for collection in report.collections {
            guard let root = schema[collection.namespace]?.root else { continue }
            for finding in collection.groups where finding.violation.rule == .requiredMissing {
                guard case .field(let field)? = finding.violation.path.steps.first,
                    finding.violation.path.steps.count == 1
                else { continue }
                var cursor = client.collection(collection.reading.namespace ?? collection.namespace).aggregate([
                    ["$match": .object(finding.filter)], ["$limit": .integer(Self.sample)],
                    ["$project": ["names": ["$map": ["input": ["$objectToArray": "$$ROOT"], "in": "$$this.k"]]]],
                    ["$unwind": "$names"], ["$group": ["_id": "$names", "count": ["$sum": 1]]],
                    ["$sort": ["count": -1, "_id": 1]],
                ])
                while let name = try cursor.nextDocument()?["_id"]?.text {
                    guard root.property(name) == nil, Self.plain(name) == Self.plain(field) else { continue }
                    names[collection.namespace, default: [:]][field] = name
                    break
                }
            }
        }
    }

    /// The undeclared name for a missing field of a collection; `nil` if there is none.
    subscript(namespace: Namespace, field: String) -> String? { names[namespace]?[field] }

    /// Returns a name without what often differs: case, underscores, dashes and a plural.
    private static func plain(_ name: String) -> String {
        let letters = name.lowercased().filter { $0 != "_" && $0 != "-" }
        return letters.count > 2 && letters.hasSuffix("s") ? String(letters.dropLast()) : letters
    }
}
