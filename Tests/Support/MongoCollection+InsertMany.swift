package import BSON
package import Mongo

extension MongoCollection {
    /// Inserts documents, in as many commands as needed.
    package func insertMany(
        _ documents: some Sequence<BSONDocument>, isOrdered: Bool = true, options: BSONDocument = [:]
    ) throws(MongoError) {
        var (batch, size): ([BSONDocument], Int) = ([], 0)
        for document in documents {
            if batch.count == 1_000 || size > 0 && size + document.bytes.count > 8 << 20 {
                try insert(batch, isOrdered: isOrdered, options: options)
                (batch, size) = ([], 0)
            }
            batch.append(document)
            size += document.bytes.count
        }
        if !batch.isEmpty { try insert(batch, isOrdered: isOrdered, options: options) }
    }
}
