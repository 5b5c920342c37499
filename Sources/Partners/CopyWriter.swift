import BSON
import Concurrency
import JobState
import Mongo
import Running

/// Inserts documents into a partner collection to which no client writes yet.
struct CopyWriter {
    let namespace: Namespace

    /// Inserts documents; existing documents stay as they are, because an earlier run inserted them.
    ///
    /// The server inserts the documents in an aggregation, which begins with a match on the lease's document in the
    /// state database. After the lease has ended, there is no match, so the server inserts nothing.
    /// - Returns: the `_id`s of the documents that the server refuses, each with the server's error code.
    func insert(_ documents: [BSONDocument], under kernel: inout Kernel) throws -> [(id: BSONValue, code: Int)] {
        var refused: [(id: BSONValue, code: Int)] = []
        for slice in documents.map({ BSONValue.object($0) }).commandSlices(count: 1_000) {
            do {
                try merge(slice, under: &kernel)
            } catch let error as MongoError where error.isOfOneDocument || error.code == .duplicateKey {
                let rest = slice.compactMap(\.document)
                guard rest.count > 1 else {
                    refused += rest.compactMap { $0["_id"] }.map { ($0, error.code.rawValue) }
                    continue
                }
                // The slice is halved, and each half is inserted separately, until only the refused document is left.
                let half = (rest.count + 1) / 2
                for part in [rest.prefix(half), rest.dropFirst(half)] {
                    refused += try insert(Array(part), under: &kernel)
                }
            }
        }
        return refused
    }

    private func merge(_ documents: [BSONValue], under kernel: inout Kernel) throws {
        FaultInjection.reached(.beforeWrite)
        try kernel.fenced { kernel in
            let records = Namespace(database: kernel.store.client.database, collection: StateStore.streams)
            let pipeline: [BSONDocument] = [
                ["$match": .object(kernel.fencedRecord)],
                ["$project": ["_id": 0, "d": ["$literal": .array(of: documents)]]], ["$unwind": "$d"],
                ["$replaceWith": "$d"],
                [
                    "$merge": [
                        "into": ["db": .string(namespace.database), "coll": .string(namespace.collection)],
                        "whenMatched": "keepExisting", "whenNotMatched": "insert",
                    ]
                ],
            ]
            var cursor = kernel.client.collection(records).aggregate(
                pipeline,
                options: [
                    "maxTimeMS": .long(kernel.lease.terms.writeLimit.milliseconds), "comment": "shipshape partner",
                    "writeConcern": ["w": "majority", "wtimeout": 10_000],
                ])
            _ = try cursor.next() == nil
        }
        FaultInjection.reached(.afterWrite)
    }
}
