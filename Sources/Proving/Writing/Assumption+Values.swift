import BSON
import Concurrency
import Mongo

/// The assumptions about stored values, commands and change streams.
extension Assumption {
    static func storesLiterals(_ trial: Trial) throws {
        var values = OddValues.all.compactMap { odd in odd.value.map { (odd.name, $0) } }
        values.removeAll { $0.1.byteCount > 1 << 20 }
        // Names that repeat are not tried: mongod 6.0.5 aborts when it writes them, and later versions refuse them.
        values.append(("odd names", ["": [["": 1]], "a.b": 2, "a": 3]))
        // A server before 5.0 refuses names that begin with a dollar sign.
        if trial.hello.maxWireVersion >= ServerHello.wireVersionOf50 {
            values.append(("names with a dollar sign", ["$x": 1, "a": ["$y": [["$z": 2]]]]))
        }
        let client = try trial.client(
            inserting: values.indices.map { ["_id": .integer($0), "a": 1, "v": ["old": 1], "gone": 2, "z": .long(1)] })
        let updates = values.enumerated().map { index, value in
            let set: BSONDocument = ["v": ["$literal": value.1], "gone": "$$REMOVE", "new": ["$literal": value.1]]
            return UpdateStatement(["_id": ["$eq": .integer(index)]], [["$set": .object(set)]], hint: ["_id": 1])
        }
        for slice in updates.slices(count: 100, bytes: 8 << 20, size: \.byteCount) {
            try client.collection.update(slice, options: Trial.options())
        }
        for (stored, (index, value)) in zip(try client.documents(), values.enumerated()) {
            let expected: BSONDocument = ["_id": .integer(index), "a": 1, "v": value.1, "z": .long(1), "new": value.1]
            try trial.expect(stored == expected, "another document is stored for the value: \(value.0)")
        }
        let whole = BSONDocument([("_id", .integer(0))] + values.enumerated().map { ("f\($0)", $1.1) })
        try client.collection.update(
            [UpdateStatement(["_id": ["$eq": 0]], [["$replaceWith": ["$literal": .object(whole)]]])],
            options: Trial.options())
        try trial.expect(try client.documents().first == whole, "another document is stored by $replaceWith")
    }

    static func refusesOtherUUID(_ trial: Trial) throws {
        // The wire version of MongoDB 6.0.
        guard trial.hello.maxWireVersion >= 17 else {
            throw Untried(reason: "commands have no collectionUUID before MongoDB 6.0, and the program sends none")
        }
        let (client, name) = (try trial.client(inserting: [["_id": 0]]), trial.namespace.collection)
        guard let uuid = try client.client.collectionInfo(trial.namespace)?.uuid else {
            throw Deviation(seen: "listCollections names no UUID")
        }
        let missing = Namespace(database: trial.namespace.database, collection: name + "_missing")
        let other = BSONValue.binary(subtype: 4, bytes: (0..<16).map { _ in .random(in: 0...255) })
        let right = MongoError.Code(rawValue: 0)
        for (namespace, uuid, expected) in [
            (trial.namespace, uuid, right), (trial.namespace, other, .collectionUUIDMismatch),
            (missing, uuid, .collectionUUIDMismatch),
        ] {
            let named: BSONDocument = ["collectionUUID": uuid, "maxTimeMS": .long(Trial.limit.milliseconds)]
            let update: (MongoCollection) throws -> Void = {
                try $0.sibling(namespace).update([Trial.setting("v", to: 1, of: 0)], options: named)
            }
            try trial.expect(expected, "an update") { try update(client.collection) }
            try trial.expect(expected, "an update in a transaction") { try client.inTransaction(update) }
            try trial.expect(expected, "an aggregation") {
                _ = try client.collection.sibling(namespace).aggregate([["$limit": 1]], options: named).documents()
            }
            try trial.expect(expected, "a find in a transaction") {
                try client.inTransaction {
                    _ = try $0.sibling(namespace).recordBatch(
                        after: nil, count: 1, comment: WritingProof.comment, collectionUUID: uuid)
                }
            }
        }
    }

    static func resumesRecords(_ trial: Trial) throws {
        let client = try trial.client(inserting: (0..<20).map { ["_id": .integer(($0 * 7) % 20)] })
        func read(_ collection: MongoCollection, _ count: Int, after place: Int64? = nil) throws -> (
            [BSONValue], Int64?
        ) {
            let batch = try collection.recordBatch(
                after: place, count: count, comment: WritingProof.comment, collectionUUID: nil)
            var ids: [BSONValue] = []
            try batch.forEach { view in
                if let id = try view.find("_id") { ids.append(try view.value(id)) }
                return true
            }
            return (ids, batch.position)
        }
        var (all, places): ([BSONValue], [Int64?]) = ([], [])
        try client.inTransaction { collection in
            all = try read(collection, 100).0
            try trial.expect(Set(all).count == 20, "a read in record order returns \(Set(all).count) of 20 documents")
            places = try [4, 5].map { try read(collection, $0).1 }
            for (count, place) in zip([4, 5], places) {
                try trial.expect(place != nil, "a read in record order has no resume token")
                try trial.expect(
                    try read(collection, 100, after: place).0 == Array(all[count...]),
                    "a read that continues after a resume token returns other documents")
            }
        }
        try client.collection.delete([DeleteStatement(["_id": ["$eq": all[4]]])], options: Trial.options())
        try client.inTransaction { collection in
            let next = try read(collection, 1, after: places[0]).0
            try trial.expect(next == [all[5]], "a read does not pass over a deleted record")
            try trial.expect(.keyNotFound, "a read after a deleted record") {
                _ = try read(collection, 1, after: places[1])
            }
        }
    }

    static func namesSession(_ trial: Trial) throws {
        let client = try trial.client(inserting: (0..<3).map { ["_id": .integer($0)] })
        let start = try client.client.operationTime(.primary)
        var stream = try trial.client().collection.watch(
            [["$match": ["operationType": ["$ne": "insert"]]], ["$project": ["documentKey": 1, "lsid.id": 1]]],
            options: [
                "startAtOperationTime": .timestamp(start), "maxAwaitTimeMS": 200,
                "readConcern": ["level": "majority"],
            ])
        try client.inTransaction { collection in
            try collection.update([0, 1].map { Trial.setting("v", to: 1, of: .integer($0)) })
            try client.session.commitTransaction()
        }
        try client.set("v", to: 1, of: 2)
        let end = ContinuousClock.now + Trial.limit
        var events = 0
        while events < 3 {
            guard .now < end else { throw Untried(reason: "the change stream has \(events) of 3 events after 5 s") }
            guard let view = try stream.next() else { continue }
            let event = BSONDocument(copying: view)
            let isNamed = event["lsid"]?.document?["id"] == client.session.id["id"]
            try trial.expect(
                isNamed == (events < 2),
                isNamed
                    ? "the event of another write names the transaction's session"
                    : "the event of a transaction does not name its session")
            events += 1
        }
    }
}
