import BSON
import Jobs
package import LocatedYAML
package import ServerSchema

/// The unique indexes that `unique` in `shipshape.yml` states for collections with a validator or without a schema.
package struct UniqueKeysSetting {
    private var keys: [Namespace: [UniqueKey]] = [:]

    /// Creates a setting without indexes.
    package init() {}

    /// Reads the list.
    /// - Throws: ``LocatedError`` with line and column for anything that does not match the format.
    package init(_ node: YAMLNode) throws(LocatedError) {
        guard !node.isEmptyList else { return }
        for entry in try node.elements(of: "\"unique\"") {
            let members = try entry.members(
                of: "a unique index", allowed: ["collection", "fields", "name", "sparse", "collation"])
            let namespace = try ExceptionsFile.collection(members)
            let paths = try members.required("fields").elements(of: "\"fields\"").map { path throws(LocatedError) in
                try path.text(of: "a field of a unique index")
            }
            var key = UniqueKey(
                paths: paths, name: try members["name"]?.text(of: "\"name\""), of: namespace.collection,
                location: entry.location)
            key.isSparse = try members["sparse"]?.text(of: "\"sparse\"") == "true"
            key.collation = try members["collation"].map(Self.document)
            keys[namespace, default: []].append(key)
        }
    }

    private static func document(_ node: YAMLNode) throws(LocatedError) -> BSONDocument {
        guard let document = (try? JobLiteral.value(node))?.document else { throw node.error("expected a mapping") }
        return document
    }

    /// Adds the indexes to the schemas of their collections; a Prisma schema states its own.
    package func add(to schema: inout ServerSchema) {
        guard schema.dialect == .jsonSchema else { return }
        for index in schema.collections.indices {
            schema.collections[index].uniqueKeys += keys[schema.collections[index].namespace] ?? []
        }
    }
}
