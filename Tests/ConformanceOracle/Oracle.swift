package import BSON
package import Mongo
package import Proving

/// Asks a mongod for its verdicts on documents.
///
/// It stores the documents and queries them with `$jsonSchema`. It does not use a validator, because mongod 6.0.5
/// aborts when it makes the error messages for some schemas.
package struct Oracle: ~Copyable {
    private let client: Client
    private let namespace: Namespace

    /// Creates an oracle.
    /// - Parameter namespace: a collection that only this oracle uses; ``finish()`` drops it.
    package init(_ client: consuming Client, namespace: Namespace) {
        self.client = client
        self.namespace = namespace
    }

    /// Returns the verdicts on the documents of each group, in the order of the groups and documents.
    /// - Throws: ``MongoError`` if the deployment fails. A refused schema is an answer and no error.
    package func answers(for groups: [CaseGroup]) throws -> [[ConformanceAnswer]] {
        let numbers = groups.flatMap(\.documents).map(\.number)
        guard Set(numbers).count == numbers.count, !numbers.contains(where: \.isNaN) else {
            return try groups.map { group in try group.documents.map { try answer(for: $0, by: group.schema) } }
        }
        return try answersByNumber(for: groups)
    }

    /// Stores a document as the only one in the collection, and returns mongod's verdict on it.
    private func answer(for document: BSONDocument, by schema: BSONDocument) throws -> ConformanceAnswer {
        try clear()
        let command: BSONDocument = ["find": .string(namespace.collection), "filter": ["$jsonSchema": .object(schema)]]
        do {
            try client.runCommand(
                ["insert": .string(namespace.collection), "documents": [.object(document)]], on: namespace.database)
        } catch {
            guard error.domain == .server else { throw error }
            return .none("mongod does not store the document")
        }
        if document.values.contains(.timestamp(0)) { return Self.emptyTimestamp }
        do {
            let reply = try client.runCommand(command, on: namespace.database)
            guard case .object(let cursor)? = reply["cursor"], case .array(let batch)? = cursor["firstBatch"] else {
                return .none("mongod gives no cursor")
            }
            return .judged(!batch.isEmpty)
        } catch {
            guard error.domain == .server else { throw error }
            return ConformanceAnswer(of: error)
        }
    }

    private static var emptyTimestamp: ConformanceAnswer {
        .none("mongod stores the time in the place of an empty timestamp")
    }

    /// Returns the verdicts on documents that are all stored at once; each `_id` must be a different number.
    private func answersByNumber(for groups: [CaseGroup]) throws -> [[ConformanceAnswer]] {
        let stored = try store(groups.flatMap(\.documents))
        var answers: [[ConformanceAnswer]] = []
        for group in groups {
            var verdicts: [ConformanceAnswer]
            do {
                let found = try find(group.documents, matching: ["$jsonSchema": .object(group.schema)])
                verdicts = group.documents.map { .judged(found.contains($0.number)) }
            } catch let error as MongoError {
                guard error.domain == .server else { throw error }
                verdicts = group.documents.map { _ in ConformanceAnswer(of: error) }
            }
            for (index, document) in group.documents.enumerated() {
                if !stored.contains(document.number) {
                    verdicts[index] = .none("mongod does not store the document")
                } else if document.values.contains(.timestamp(0)) {
                    verdicts[index] = Self.emptyTimestamp
                }
            }
            answers.append(verdicts)
        }
        // The collection is emptied now, so that the next call has few documents to read: if no document matches a
        // schema, mongod reads the whole collection, even with bounds on `_id`.
        try clear()
        return answers
    }

    /// Removes all documents of the oracle's collection.
    private func clear() throws {
        try client.runCommand(
            ["delete": .string(namespace.collection), "deletes": [["q": [:], "limit": 0]]], on: namespace.database)
    }

    /// Drops the oracle's collection.
    package func finish() throws {
        _ = try client.runCommand(["drop": .string(namespace.collection)], on: namespace.database)
    }

    /// Stores documents, and returns the `_id`s of those that mongod accepts.
    private func store(_ documents: [BSONDocument]) throws -> Set<Double> {
        var stored: Set<Double> = []
        var rest = documents[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(1_000))
            rest = rest.dropFirst(part.count)
            do {
                try client.runCommand(
                    [
                        "insert": .string(namespace.collection), "documents": .array(of: part.map { .object($0) }),
                        "ordered": false, "writeConcern": ["w": 1, "j": false],
                    ], on: namespace.database)
            } catch {
                // mongod refused some of the documents; the `find` below shows which it stored.
                guard error.domain == .server else { throw error }
            }
            stored.formUnion(try find(part, matching: [:]))
        }
        return stored
    }

    private func find(_ documents: [BSONDocument], matching filter: BSONDocument) throws -> Set<Double> {
        let numbers = documents.map(\.number)
        let range: BSONDocument = ["$gte": .double(numbers.min() ?? 0), "$lte": .double(numbers.max() ?? 0)]
        let reply = try client.runCommand(
            [
                "find": .string(namespace.collection), "filter": ["$and": [["_id": .object(range)], .object(filter)]],
                "projection": ["_id": 1], "batchSize": 10_000, "singleBatch": true,
            ], on: namespace.database)
        guard case .object(let cursor)? = reply["cursor"], case .array(let batch)? = cursor["firstBatch"] else {
            return []
        }
        var found: Set<Double> = []
        for case .object(let document) in batch.values { found.insert(document.number) }
        return found
    }
}
