import BSON
import Checking
import Concurrency
import Jobs
import Mongo
import Steps

/// Checks every document of the original collection before the first document is copied to the partner collection.
///
/// After the forward steps and then the reverse steps, each document must be the same as before. The check also counts
/// the documents of the partner collection that would not sync, or would not fit the validator.
struct PartnerProof: Sendable {
    let partner: Partner
    /// The original's validator, which the partner's documents should also fit; `nil` if the original has none.
    let validator: BSONDocument?
    let stop: StopSignal

    /// The result of the proof: how many originals were checked, which were refused, and how many partner documents
    /// would not sync (`failing`) or would not fit the validator (`unfit`).
    struct Result: Sendable {
        var documents = 0
        var refusals = RefusalList()
        var failing = 0
        var unfit = 0

        static func + (left: Result, right: Result) -> Result {
            var sum = left
            sum.documents += right.documents
            sum.refusals.add(right.refusals)
            sum.failing += right.failing
            sum.unfit += right.unfit
            return sum
        }
    }

    /// Runs the check, on as many connections as the job's concurrency allows.
    /// - Throws: ``MongoError``; ``StopAsked``, or ``RunError`` of kind `stopped`, when a stop is requested.
    func run(on pool: ClientPool, _ retry: RetryPolicy) throws -> Result {
        let client = try pool.client()
        let collection = client.collection(partner.job.source)
        let parts = try retry.run { try CollectionParts(of: collection, for: partner.job.limits.concurrency) }
        return try parts.reduce(Result(), on: pool, and: collection) { filter, collection in
            try retry.run { try compare(at: filter, of: collection) }
        } combining: {
            $0 + $1
        }
    }

    private func compare(at filter: BSONDocument, of collection: MongoCollection) throws -> Result {
        var result = Result()
        var chunks = DocumentChunks(
            collection.find(
                filter, options: ["readConcern": ["level": "majority"], "comment": "shipshape partner proof"]))
        let translation = Translation(partner: partner, side: .source, collection: collection)
        while let chunk = try chunks.next() {
            guard !stop.isRaised else { throw StopAsked() }
            var made: [BSONDocument] = []
            for outcome in try translation.provenOutcomes(of: chunk) {
                switch outcome {
                case .document(let document): made.append(document)
                case .refused(let refusal): result.refusals.add(refusal)
                }
            }
            result.documents += chunk.count
            if let schema = partner.schemas[.target] {
                result.failing += try made.count { try schema.check($0.view) == .certain }
            }
            if let validator { result.unfit += try Self.count(made, notFitting: validator, collection) }
        }
        return result
    }

    private static func count(
        _ documents: [BSONDocument], notFitting validator: BSONDocument, _ collection: MongoCollection
    ) throws -> Int {
        guard !documents.isEmpty else { return 0 }
        // The server matches the documents by a query, because an aggregation expression cannot express every
        // validator.
        let pipeline: [BSONDocument] =
            MongoCollection.stages(supplying: documents) + [
                ["$match": ["$nor": [.object(validator)]]], ["$count": "n"],
            ]
        let reply = try collection.command([
            "aggregate": .string(collection.namespace.collection),
            "pipeline": .array(of: pipeline.map { .object($0) }), "cursor": [:], "comment": "shipshape partner proof",
        ])
        return reply["cursor"]?.document?["firstBatch"]?.document?.values.first?.document?["n"]?.integer ?? 0
    }
}

/// Divides the documents of a cursor into chunks of at most 500 documents; a chunk ends when it has reached 4 MiB.
struct DocumentChunks: ~Copyable {
    private var cursor: Cursor
    private var isOver = false
    private static let maximum = 500
    private static let maximumBytes = 4 << 20

    init(_ cursor: consuming Cursor) { self.cursor = cursor }

    /// Returns the next chunk; `nil` at the end.
    mutating func next() throws -> [BSONDocument]? {
        var documents: [BSONDocument] = []
        var size = 0
        while !isOver, documents.count < Self.maximum, size < Self.maximumBytes {
            guard let view = try cursor.next() else {
                isOver = true
                break
            }
            size += view.end - view.start
            documents.append(BSONDocument(copying: view))
        }
        return documents.isEmpty ? nil : documents
    }
}
