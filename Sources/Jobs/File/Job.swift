package import BSON
package import Checking
import Concurrency
package import LocatedYAML
package import SchemaChange
package import ServerSchema

/// A backfill of one collection, as its job file states it.
package struct Job: Sendable {
    /// The job's name: its identity in the state database.
    package var name: String
    package var namespace: Namespace
    /// The database that the job file names, if the job runs in another one; otherwise `nil`.
    package var movedFrom: String?
    /// The schema that is active while the job runs, as a path relative to the job file; `nil` if the file names none.
    package var activeSchema: String?
    /// The schema that the documents are changed to fit, as a path relative to the job file; `nil` if the file names
    /// none.
    package var nextSchema: String?
    /// Whether the job must not run before its next schema is deployed.
    package var requiresDeploy = false
    /// The renames of the collection's fields from the active schema to the next one.
    package var renames: [Rename] = []
    /// Whether the job file states that a user has reviewed the steps that need a review.
    package var isReviewed = false
    /// The steps that are applied to each document, in order.
    package var steps: [LocatedStep]
    /// The limits on the job's speed, and on the number of documents that it may make unsyncable.
    package var limits: Limits
    /// The outside service that may make a run wait; `nil` if the file names none.
    package var veto: Veto?
    /// Whether the job keeps a journal, which undo needs.
    package var keepsJournal = true
    /// The file's path, as the user named it.
    package var path: String
    /// The file's text; once the job has started, only comments and layout may change.
    package var text: String
    /// The position in the file at which the collection is named, for error messages.
    package var collectionLocation: SourceLocation

    /// Creates a job; the properties that are not given keep their defaults.
    package init(
        name: String, namespace: Namespace, steps: [LocatedStep], limits: Limits, path: String, text: String,
        collectionLocation: SourceLocation
    ) {
        (self.name, self.namespace, self.steps, self.limits) = (name, namespace, steps, limits)
        (self.path, self.text, self.collectionLocation) = (path, text, collectionLocation)
    }

    /// Whether the job names one schema as both the active and the next one, because it repairs documents.
    package var repairsDocuments: Bool { activeSchema != nil && activeSchema == nextSchema }

    /// A step and its position in the file.
    package struct LocatedStep: Sendable {
        package var step: Step
        /// The position of the step in the file.
        package var location: SourceLocation
        /// The value of the step's key `review`: a text that says what a user has to review before the job runs; `nil`
        /// if the step has no such key.
        package var review: String?

        package init(step: Step, location: SourceLocation, review: String? = nil) {
            (self.step, self.location, self.review) = (step, location, review)
        }
    }

    /// The limits on the speed and the effects of a job.
    package struct Limits: Hashable, Sendable {
        /// The largest number of documents in a chunk, however small they are and however fast the server writes them.
        package var chunkDocuments = 500
        /// The target size of a chunk, in bytes.
        package var chunkBytes = 4 << 20
        /// The target for the time that the server works on a chunk.
        package var chunkTime = Duration.milliseconds(10)
        /// How many connections read the collection at the same time, and how many threads write chunks.
        package var concurrency = 2
        /// The number of unsynced documents at which sync stops.
        package var unsynced = 100_000
        /// The part of the limit ``unsynced`` that the job leaves free.
        package var reserve = Reserve.percent(10)
        /// The pause after each chunk, as a multiple of the time that the chunk took: with 0.5, the pause is half that
        /// time.
        package var nice = 0.0
        /// The rate at which a consumer of the changes can process them.
        package var consumer = ConsumerRate()
        /// The values of the deployment's metrics, and the times of the week, at which the run waits.
        package var throttle = ThrottleLimits()

        /// The largest allowed ``concurrency``; with more, a job on a primary that also does other work is not faster.
        static let maximumConcurrency = 16

        /// ``unsynced`` less ``reserve``: the documents in the sync engine's ledger and the pending reservations
        /// together must stay below this number.
        package var ceiling: Int { unsynced - reserve.count(of: unsynced) }

        /// The largest number of documents in a chunk: ``chunkDocuments``, or the number of documents that the consumer
        /// takes in a second if that is smaller.
        package var mostDocuments: Int { min(chunkDocuments, consumer.documents ?? .max) }
        /// The target size of a chunk in bytes: ``chunkBytes``, or the number of bytes that the consumer takes in a
        /// second if that is smaller.
        package var mostBytes: Int { min(chunkBytes, consumer.bytes ?? .max) }
    }

    /// The part of a limit that a job leaves free, as a number of documents or in percent.
    package enum Reserve: Hashable, Sendable {
        /// The job leaves this number of documents free.
        case documents(Int)
        /// The job leaves this percentage of the limit free; the resulting number of documents is rounded up.
        case percent(Int)

        func count(of limit: Int) -> Int {
            switch self {
            case .documents(let count): count
            case .percent(let percent): (limit * percent + 99) / 100
            }
        }
    }
}

extension Job {
    /// The suffix of the name under which a job's clean-up runs.
    package static let cleanupSuffix = ".cleanup"

    /// The steps that a user has to review before the job runs; empty if the file states that they were reviewed.
    package var unreviewed: [LocatedStep] { isReviewed ? [] : steps.filter { $0.review != nil } }

    /// The fields that the job's steps may write or remove, each listed once.
    package var touched: [FieldPath] {
        var seen: Set<FieldPath> = []
        return steps.flatMap { $0.step.kind.parts.flatMap(\.touched) }.filter { seen.insert($0).inserted }
    }
}

/// The names of the parts of a job. Each part is a job with its own lease, checkpoint and journal.
extension CheckPart {
    /// The text between the job's name and the part's number in the name of a part, such as `users.part-2-of-4`.
    private static let mark = ".part-"

    package func name(of job: String) -> String { "\(job)\(Self.mark)\(number)-of-\(count)" }

    package static func isName(_ name: String) -> Bool { pieces(of: name) != nil }

    /// Returns whether two names belong to different parts of the same job, divided into the same number of parts.
    ///
    /// Such parts have no document in common.
    package static func areOfOneJob(_ one: String, _ other: String) -> Bool {
        guard one != other, let left = pieces(of: one), let right = pieces(of: other) else { return false }
        return left == right
    }

    private static func pieces(of name: String) -> (job: Substring, count: Int)? {
        guard let mark = name.ranges(of: mark).last else { return nil }
        let numbers = name[mark.upperBound...].split(separator: "-of-", omittingEmptySubsequences: false).map {
            Int($0)
        }
        guard numbers.count == 2, numbers[0] != nil, let count = numbers[1] else { return nil }
        return (name[..<mark.lowerBound], count)
    }
}

package enum JobSteps {
    /// Reads one entry of a list of steps, which is one step or, for several fields, one step for each of them.
    /// - Parameter condition: the condition of the whole job, which applies in addition to the step's condition.
    /// - Throws: ``JobError`` with line and column.
    package static func steps(
        _ node: YAMLNode, where condition: Expression? = nil
    ) throws(JobError) -> [Job.LocatedStep] {
        let keys = Step.kinds.map { $0.key }
        let others = ["where", "review", "once"]
        let entry = try node.members(of: "a step", allowed: keys + others)
        let kinds = entry.members.filter { !others.contains($0.key) }
        guard kinds.count == 1, let (key, body) = kinds.first,
            let kind = Step.kinds.first(where: { $0.key == key })
        else {
            throw node.error("a step has exactly one kind, of \(keys.joined(separator: ", "))")
        }
        let own = try entry["where"].map { (node) throws(JobError) in
            try ExpressionLiteral.condition(node)
        }
        let conditions = [condition, own].compactMap(\.self)
        var steps = try kind.read(body)
        if let node = entry["once"] {
            guard var cases = steps.first as? CasesStep else {
                throw node.error("\"once\" stands beside \"cases\", or is a key of \"\(key)\" itself")
            }
            cases.once = try node.marker(apartFrom: cases.target)
            steps = [cases]
        }
        guard !steps.flatMap(\.removed).contains(where: { $0.topLevel == "_id" }) else {
            throw body.error("\"remove\" cannot be for _id: a document's primary key stays")
        }
        let review = try entry["review"]?.text(of: "\"review\"")
        return steps.map { step in
            Job.LocatedStep(
                step: Step(step, where: conditions.isEmpty ? nil : .all(conditions)), location: node.location,
                review: review)
        }
    }
}

/// Names for a job that runs in many databases with the same collections.
///
/// In each database, it is a separate job with its own lease, checkpoint and journal.
extension Job {
    /// The text between the job's name and the database's name: in the database `shop`, the job `users` is named
    /// `users.in-shop`.
    private static let mark = ".in-"

    /// Returns the job's name in the given database; `nil` if that would not be a valid job name.
    package func name(in database: String) -> String? {
        let name = "\(self.name)\(Self.mark)\(database)"
        return JobFile.isName(name) ? name : nil
    }

    /// The first collection outside the job's database that a step names, and the step's position; `nil` if there is
    /// none.
    package var elsewhere: (namespace: Namespace, location: SourceLocation)? {
        for located in steps {
            let others = located.step.kind.namespaces.filter { $0.database != namespace.database }
            if let other = others.first { return (other, located.location) }
        }
        return nil
    }

    /// Returns the job for another database: each collection of the job's database is replaced by the collection with
    /// the same name in `database`.
    ///
    /// The job's text stays unchanged.
    package func moved(to database: String) -> Job {
        let own = namespace.database
        guard own != database else { return self }
        var job = self
        job.movedFrom = movedFrom ?? own
        job.namespace = namespace.moved(from: own, to: database)
        for index in job.steps.indices {
            let step = steps[index].step
            job.steps[index].step = step.with(step.kind.moved(from: own, to: database))
        }
        return job
    }
}

/// An error in a job file: what is wrong, where, and how to fix it.
package typealias JobError = LocatedError
