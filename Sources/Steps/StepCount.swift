package import BSON
package import Checking
package import Concurrency
import Jobs
package import Mongo
import ServerSchema

/// The counts of the documents that one step of a job changes or skips.
package struct StepCount: Sendable {
    /// The step in one line of text.
    package var step: String
    /// The number of documents that need the step and that the step can change.
    package var needing: Int
    /// The documents that the step skips, by reason.
    package var skipped: [Skipped]

    /// The documents that a step skips for one reason.
    package struct Skipped: Sendable {
        /// The reason, as a stable name.
        package var reason: String
        /// Whether the operator has to act on documents that are skipped for this reason.
        package var isTrouble: Bool
        package var count: Int
        /// The `_id`s of a few of the skipped documents.
        package var samples: [BSONValue]
    }
}

extension StepCount.Skipped {
    init(_ reason: CompiledStep.Reason, count: Int = 0, samples: [BSONValue] = []) {
        self.init(reason: reason.rawValue, isTrouble: reason.isTrouble, count: count, samples: samples)
    }
}

extension StepCount {
    /// Returns the sum of two counts of the same step, for different documents.
    func adding(_ other: Self) -> Self {
        var sum = self
        sum.needing += other.needing
        for left in other.skipped {
            if let index = sum.skipped.firstIndex(where: { $0.reason == left.reason }) {
                sum.skipped[index].count += left.count
                let room = max(0, Survey.samples - sum.skipped[index].samples.count)
                sum.skipped[index].samples += left.samples.prefix(room)
            } else {
                sum.skipped.append(left)
            }
        }
        return sum
    }

    /// Counts a document that the step skips.
    mutating func add(_ reason: CompiledStep.Reason, _ id: BSONValue) {
        let index =
            skipped.firstIndex { $0.reason == reason.rawValue }
            ?? {
                skipped.append(Skipped(reason))
                return skipped.count - 1
            }()
        skipped[index].count += 1
        if skipped[index].samples.count < Survey.samples { skipped[index].samples.append(id) }
    }
}

/// Counts the documents that are certain to fail under a schema.
///
/// If several runners share a job, each counts only the documents in its own part.
package struct FailingCount: Sendable {
    private let schema: CompiledSchema
    private let namespace: Namespace
    private let scope: ReadScope
    private let stop: StopSignal

    /// Creates a count of the documents in a scope that are certain to fail under a schema.
    package init(_ schema: CompiledSchema, _ namespace: Namespace, _ scope: ReadScope, stop: StopSignal) {
        (self.schema, self.namespace, self.scope, self.stop) = (schema, namespace, scope, stop)
    }

    /// Counts the documents that are certain to fail; after a request to stop, returns the number counted so far.
    ///
    /// A whole collection is divided into parts that several connections read at the same time.
    package func run(in concurrency: Int, on pool: ClientPool, _ client: borrowing Client) throws -> Int {
        let collection = client.collection(namespace)
        guard case .collection = scope else {
            return try count(scope.filter(), of: collection, scope.options("next"))
        }
        let parts = try CollectionParts(of: collection, for: concurrency)
        let options: BSONDocument = ["comment": "shipshape next", "readConcern": ["level": "majority"]]
        return try parts.reduce(
            0, on: pool, and: collection, { try count($0, of: $1, options) }, combining: +)
    }

    private func count(_ filter: BSONDocument, of collection: MongoCollection, _ options: BSONDocument) throws -> Int {
        var failing = 0
        var cursor = collection.find(filter, options: options)
        while !stop.isRaised, let view = try cursor.next() {
            if try schema.check(view) == .certain { failing += 1 }
        }
        return failing
    }
}
