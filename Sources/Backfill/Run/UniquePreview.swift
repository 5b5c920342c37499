import BSON
import Concurrency
import JobReports
import Jobs
import Mongo
import Running
import Scanning
import ServerSchema
import Steps

/// Finds, in a dry run, the documents that a unique index would refuse after the job's change.
///
/// Only a job that writes a field of such an index needs another read of the collection.
struct UniquePreview {
    let runner: BackfillRunner

    /// Adds the documents to a dry run's report, or a note if they cannot be counted.
    func add(to report: inout BackfillReport, on client: borrowing Client) throws {
        let (job, namespace) = (runner.job, runner.job.job.namespace)
        let indexes: [BSONDocument]
        do throws(MongoError) { indexes = try client.indexes(of: namespace) } catch {
            guard error.isAuthorization else { throw error }
            report.notes.append("this user cannot list the indexes: what a unique index would refuse is not counted")
            return
        }
        let touched = Set(job.whole.touched)
        let keys = indexes.compactMap { UniqueKey(index: $0, of: namespace.collection) }.filter { key in
            key.paths.contains { touched.contains(String($0.prefix { $0 != "." })) }
        }
        guard !keys.isEmpty else { return }
        guard case .collection = job.scope, runner.options.only == nil else {
            return report.notes.append(Self.note(keys.map(\.name)))
        }
        let collection = client.collection(namespace)
        let census: UniqueCensus
        do {
            census = try runner.retry.run { try self.census(keys, in: collection) }
        } catch let error as MongoError where error.isOfOneDocument {
            return report.notes.append(Self.note(keys.map(\.name)))
        }
        guard !runner.stop.isRaised else { return }
        if !census.unjudged.isEmpty { report.notes.append(Self.note(census.unjudged)) }
        let refusals = try census.refusals()
        report.work.modified = max(0, report.work.modified - refusals.reduce(0) { $0 + $1.documents })
        report.failures += refusals.map { refusal in
            BackfillReport.FailureGroup(
                code: MongoError.Code.duplicateKey.rawValue,
                name: "would be twice in the unique index \(refusal.key.name)",
                count: refusal.documents, samples: Array(refusal.ids.prefix(Survey.samples)))
        }
    }

    private static func note(_ names: [String]) -> String {
        "the job writes fields of the unique index \(names.joined(separator: ", ")): what it would refuse is not "
            + "counted"
    }

    private func census(_ keys: [UniqueKey], in collection: MongoCollection) throws -> UniqueCensus {
        let census = UniqueCensus(keys, of: runner.job.job.namespace)
        var preview = Preview(
            .collection, through: runner.job.whole, in: runner.job.context(collection), onlyNeeding: false)
        while !runner.stop.isRaised, let outcome = try preview.next() { try census.add(outcome.after.view) }
        return census
    }
}
