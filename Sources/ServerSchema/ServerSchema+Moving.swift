package import BSON

extension ServerSchema {
    /// The same schemas for the collections of another database, and the links between them.
    package func moved(from own: String, to database: String) -> ServerSchema {
        var schema = self
        for index in schema.collections.indices { schema.collections[index].move(from: own, to: database) }
        for index in schema.neighbours.indices { schema.neighbours[index].move(from: own, to: database) }
        return schema
    }
}

extension CollectionSchema {
    fileprivate mutating func move(from own: String, to database: String) {
        namespace = namespace.moved(from: own, to: database)
        relationships = relationships.map { link in
            var link = link
            link.target = link.target.moved(from: own, to: database)
            return link
        }
    }
}

extension Namespace {
    /// The collection of that name in another database; one that is not in `own` stays.
    package func moved(from own: String, to other: String) -> Namespace {
        database == own ? Namespace(database: other, collection: collection) : self
    }
}
