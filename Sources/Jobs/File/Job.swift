package import BSON
package import Checking
import Concurrency
package import LocatedYAML
package import ServerSchema

/// A backfill of one collection, as its job file states it.
package struct Job: Sendable {
    /// The job's name: its identity in the state database.
    package var name: String
    /// The collection that the job writes.
    package var namespace: Namespace
    /// The database that the file names, if the job runs in another one.
    package var movedFrom: String?
    /// The schema that is active while the job runs, as a path relative to the job file.
    package var activeSchema: String?
    /// The schema that the documents are made to fit, as a path relative to the job file.
    package var nextSchema: String?
    /// Whether the job must not run before its next schema is deployed.
    package var requiresDeploy = false
    /// The steps that are applied to each document, in order.
    package var steps: [LocatedStep]
    /// The limits on the job's speed and effects.
    package var limits: Limits
    /// The outside service that may make a run wait.
    package var veto: Veto?
    /// Whether a journal is kept, which undo needs.
    package var keepsJournal = true
    /// The file's path, as the user named it.
    package var path: String
    /// The file's text, which a started job is bound to.
    package var text: String
    /// The place where the file names the collection.
    package var collectionLocation: SourceLocation

    /// Creates a job without a job file of its own; its steps come from another file.
    package init(
        name: String, namespace: Namespace, steps: [LocatedStep], limits: Limits, path: String, text: String,
        collectionLocation: SourceLocation
    ) {
        (self.name, self.namespace, self.steps, self.limits) = (name, namespace, steps, limits)
        (self.path, self.text, self.collectionLocation) = (path, text, collectionLocation)
    }

    /// A step and its place in the file.
    package struct LocatedStep: Sendable {
        /// The step.
        package var step: Step
        /// The place of the step in the file.
        package var location: SourceLocation

        /// Creates a step with its place.
        package init(step: Step, location: SourceLocation) { (self.step, self.location) = (step, location) }
    }

    /// The limits on the speed and the effects of a job.
    package struct Limits: Hashable, Sendable {
        /// The most documents in a chunk, whatever its bytes and its time.
        package var chunkDocuments = 100_000
        /// The target size of a chunk, in bytes.
        package var chunkBytes = 16 << 20
        /// The target for the time that the server works on a chunk.
        package var chunkTime = Duration.milliseconds(500)
        /// The number of parts of a chunk that are read and written concurrently.
        package var concurrency = 2
        /// The unsynced documents at which sync stops.
        package var unsynced = 100_000
        /// The share of ``unsynced`` that the job leaves free.
        package var reserve = Reserve.percent(10)
        /// The rest per unit of work: 0.5 rests half as long as each chunk took.
        package var nice = 0.0
        /// The states of the deployment that make the run wait.
        package var throttle = ThrottleLimits()

        /// The upper bound of ``concurrency``, beyond what a primary can use in addition to its other work.
        static let mostConcurrency = 16

        /// The count that the documents in the ledger and the pending reservations must together stay under.
        package var ceiling: Int { unsynced - reserve.count(of: unsynced) }
    }

    /// A share of a limit, as a count or in percent.
    package enum Reserve: Hashable, Sendable {
        /// A number of documents.
        case documents(Int)
        /// A percentage of the limit, rounded up.
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
    /// The suffix of a job's name for its clean-up.
    package static let cleanupSuffix = ".cleanup"

    /// The fields that the job's steps may write or remove, each once.
    package var touched: [FieldPath] {
        var seen: Set<FieldPath> = []
        return steps.flatMap { $0.step.kind.parts.flatMap(\.touched) }.filter { seen.insert($0).inserted }
    }
}

/// The names of the parts of a job. Each part is a job of its own, with its own lease, checkpoint and journal.
extension CheckPart {
    /// The text that the names of all parts of a job contain.
    private static let mark = ".part-"

    /// Returns the name of this part of a job.
    package func name(of job: String) -> String { "\(job)\(Self.mark)\(number)-of-\(count)" }

    /// Returns whether a name is that of a part of a job.
    package static func isName(_ name: String) -> Bool { pieces(of: name) != nil }

    /// Returns whether two jobs are parts of one job, so that they share no document.
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

/// Reads the entries of a job's `steps`.
package enum JobSteps {
    /// Reads one step.
    /// - Parameter condition: The condition of the job, which its documents must meet.
    /// - Throws: ``JobError`` with line and column.
    package static func step(_ node: YAMLNode, where condition: Expression? = nil) throws(JobError) -> Job.LocatedStep {
        let keys = Step.kinds.map { $0.key }
        let entry = try node.members(of: "a step", allowed: keys + ["where"])
        let kinds = entry.members.filter { $0.key != "where" }
        guard kinds.count == 1, let (key, body) = kinds.first,
            let kind = Step.kinds.first(where: { $0.key == key })
        else {
            throw node.error("a step has exactly one kind, of \(keys.joined(separator: ", "))")
        }
        let own = try entry["where"].map { (node) throws(JobError) in
            try ExpressionLiteral.condition(node)
        }
        let conditions = [condition, own].compactMap(\.self)
        return Job.LocatedStep(
            step: Step(try kind.read(body), where: conditions.isEmpty ? nil : .all(conditions)), location: node.location
        )
    }
}

/// The names of a job that runs in many databases of one shape, and of its collections. In each database it is a job
/// of its own, with its own lease, checkpoint and journal.
extension Job {
    /// The text before the database in the name of such a job.
    private static let mark = ".in-"

    /// Returns the job's name in a database; `nil` if that is no valid name of a job.
    package func name(in database: String) -> String? {
        let name = "\(self.name)\(Self.mark)\(database)"
        return JobFile.isName(name) ? name : nil
    }

    /// The first collection that a step names in another database than the job's collection, and the step's place.
    package var elsewhere: (namespace: Namespace, location: SourceLocation)? {
        for located in steps {
            let others = located.step.kind.namespaces.filter { $0.database != namespace.database }
            if let other = others.first { return (other, located.location) }
        }
        return nil
    }

    /// Returns the same job for the collections of the same names in another database; its text stays as it is.
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
