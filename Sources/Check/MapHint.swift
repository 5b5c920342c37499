import BSON
import Concurrency
import Mongo
import ServerSchema

/// Hints at existing collections that models of a Prisma schema probably mean by another name.
///
/// Without `@@map`, the collection of a model has the model's own name, such as `User`. Other programs often store the
/// same documents in a collection with a name in the plural, such as `users`.
extension CheckRun {
    /// Returns a hint for each missing collection of a Prisma schema that has a similar name as an existing one.
    ///
    /// Returns no hint if the user is not allowed to list the collections.
    func mapHints(for missing: [CollectionSchema], on pool: ClientPool) async throws -> [String] {
        guard schema.dialect == .prisma, !missing.isEmpty else { return [] }
        let known = Set(schema.collections.map { map.target(of: $0.namespace) })
        let databases = Set(missing.map { map.target(of: $0.namespace).database })
        let existing = try await onOwnedThread(name: "look-up") { () throws in
            let client = try pool.client()
            do {
                return try databases.flatMap { database in
                    try client.listCollections(of: database, options: ["nameOnly": true]).map {
                        Namespace(database: database, collection: $0.name)
                    }
                }
            } catch let error as MongoError where error.isAuthorization {
                return []
            }
        }
        return missing.compactMap { collection in
            let place = map.target(of: collection.namespace)
            let similar = existing.sorted().first {
                $0.database == place.database && !known.contains($0)
                    && Self.isSimilar($0.collection, place.collection)
            }
            return similar.map {
                "\(place) does not exist, but \($0) does: write @@map(\"\($0.collection)\") into the model "
                    + "\(collection.root.title ?? place.collection), if it has these documents"
            }
        }
    }

    /// Whether two names have the same letters and digits, apart from case and the ending of an English plural.
    private static func isSimilar(_ one: String, _ other: String) -> Bool {
        let names = [one, other].map { $0.lowercased().filter { $0.isLetter || $0.isNumber } }
        func plurals(_ name: String) -> [String] { [name + "s", name + "es", name.dropLast() + "ies"] }
        return names[0] == names[1] || plurals(names[0]).contains(names[1]) || plurals(names[1]).contains(names[0])
    }
}
