package import BSON

extension MongoCollection {
    /// Runs a command that reads on the collection's database, with the client's read concern and preference.
    /// - Throws: ``MongoError``.
    package func command(_ command: BSONDocument) throws(MongoError) -> BSONDocument {
        try lease.run(.read, command, on: namespace.database)
    }
}
