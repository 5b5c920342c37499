import BSON
import Jobs
package import LocatedYAML
package import ServerSchema

/// The unique indexes that `unique` in `shipshape.yml` states for collections with a validator or without a schema.
package struct UniqueKeysSetting {
    private var keys: [Namespace: [UniqueKey]] = [:]

    private static let flags = ["true": true, "false": false]

    /// The options of a collation.
    ///
    /// Source: MongoDB manual, "Collation Document".
    private static let collationKeys = [
        "locale", "strength", "caseLevel", "caseFirst", "numericOrdering", "alternate", "maxVariable", "backwards",
        "normalization",
    ]

    /// The operators of a partial index's filter.
    ///
    /// Source: MongoDB manual, "Partial Indexes".
    private static let operators: Set = ["$eq", "$exists", "$gt", "$gte", "$lt", "$lte", "$type", "$and", "$or", "$in"]

    package init() {}

    /// Reads the list.
    /// - Throws: ``LocatedError`` with line and column for anything that does not match the format.
    package init(_ node: YAMLNode) throws(LocatedError) {
        guard !node.isEmptyList else { return }
        for entry in try node.elements(of: "\"unique\"") {
            let members = try entry.members(
                of: "a unique index",
                allowed: ["collection", "fields", "name", "sparse", "collation", "partialFilterExpression"])
            let namespace = try ExceptionsFile.collection(members)
            let paths = try members.required("fields").elements(of: "\"fields\"").map { path throws(LocatedError) in
                let text = try path.text(of: "a field of a unique index")
                let parts = text.split(separator: ".", omittingEmptySubsequences: false)
                guard !parts.contains(where: { $0.isEmpty || $0.hasPrefix("$") }) else {
                    throw path.error("\(text.quotedAsJSON) is no path of a field")
                }
                return text
            }
            guard !paths.isEmpty, Set(paths).count == paths.count else {
                throw entry.error("a unique index has at least one field, and each field once")
            }
            var key = UniqueKey(
                paths: paths, name: try members["name"]?.text(of: "\"name\""), of: namespace.collection,
                location: entry.location)
            if let sparse = members["sparse"] {
                guard let word = Self.flags[try sparse.text(of: "\"sparse\"")] else {
                    throw sparse.error("\"sparse\" is true or false")
                }
                key.isSparse = word
            }
            key.collation = try members["collation"].map(Self.collation)
            if let filter = members["partialFilterExpression"] {
                guard !key.isSparse else { throw filter.error("a sparse index has no filter: leave out \"sparse\"") }
                key.filter = try Self.filter(filter)
            }
            if paths == ["_id"], key.isSparse || key.collation != nil || key.filter != nil {
                throw entry.error("the index of _id alone has no options, and every collection has it")
            }
            keys[namespace, default: []].append(key)
        }
    }

    private static func collation(_ node: YAMLNode) throws(LocatedError) -> BSONDocument {
        let members = try node.members(of: "a collation", allowed: collationKeys)
        _ = try members.required("locale").text(of: "\"locale\"")
        if let strength = members["strength"] {
            let level = (try? JobLiteral.value(strength))?.integer
            guard level.map((1...5).contains) == true else { throw strength.error("\"strength\" is 1, 2, 3, 4 or 5") }
        }
        return try document(node)
    }

    private static func filter(_ node: YAMLNode) throws(LocatedError) -> BSONDocument {
        let document = try document(node)
        func check(_ document: BSONDocument) throws(LocatedError) {
            for (name, value) in (try? document.elements()) ?? [] {
                guard name != "$exists" || value.isTrue == true else {
                    throw node.error("the server makes no index with {$exists: false} in its filter")
                }
                if case .regex = value { throw node.error("the server makes no index with a pattern in its filter") }
                for inner in [value] + (value.document?.values ?? []) {
                    if let inner = inner.document { try check(inner) }
                }
            }
        }
        try check(document)
        return document
    }

    private static func document(_ node: YAMLNode) throws(LocatedError) -> BSONDocument {
        let value: BSONValue
        do throws(JobError) { value = try JobLiteral.value(node, operators: operators) } catch { throw error }
        guard case .object(let document) = value else { throw node.error("a collation or a filter is a mapping") }
        return document
    }

    /// Adds the indexes to the schemas of their collections; a Prisma schema states its own.
    package func add(to schema: inout ServerSchema) {
        let known = Set((schema.collections + schema.neighbours).map(\.namespace))
        for (namespace, own) in keys.sorted(by: { $0.key < $1.key }) {
            let reason =
                schema.dialect != .jsonSchema
                ? "only a validator's collections take it"
                : known.contains(namespace) ? nil : "the schema has no such collection"
            guard let reason else { continue }
            schema.notes.append(
                SchemaNote(location: own[0].location, message: "unique of \(namespace) is not judged: \(reason)"))
        }
        guard schema.dialect == .jsonSchema else { return }
        for index in schema.collections.indices {
            schema.collections[index].uniqueKeys += keys[schema.collections[index].namespace] ?? []
        }
    }
}
