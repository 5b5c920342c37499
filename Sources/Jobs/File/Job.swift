package import BSON
package import Checking
import Concurrency
package import LocatedYAML
package import ServerSchema

/// A backfill of one collection, as its job file states it.
package struct Job: Sendable {
    /// The job's name: its identity in the state database.
    package var name: String
    /// The collection that it writes.
    package var namespace: Namespace
    /// The database that the file names, where the job runs in another one.
    package var movedFrom: String?
    /// The schema that is live while the job runs, as a path relative to the job file.
    package var activeSchema: String?
    /// The schema that the documents are made to fit, as a path relative to the job file.
    package var nextSchema: String?
    /// Whether the job must not run before its next schema is deployed.
    package var requiresDeploy = false
    /// What is done to each document, in this order.
    package var steps: [LocatedStep]
    /// How fast, and how far.
    package var limits: Limits
    /// Who else may hold a run.
    package var veto: Veto?
    /// Whether a journal is kept, from which the job can be undone.
    package var keepsJournal = true
    /// The file's path, as the user named it.
    package var path: String
    /// The file's text: what a started job is bound to.
    package var text: String
    /// Where the file names the collection.
    package var collectionLocation: SourceLocation

    /// A job that no job file states as a whole: its steps are of another file.
    package init(
        name: String, namespace: Namespace, steps: [LocatedStep], limits: Limits, path: String, text: String,
        collectionLocation: SourceLocation
    ) {
        (self.name, self.namespace, self.steps, self.limits) = (name, namespace, steps, limits)
        (self.path, self.text, self.collectionLocation) = (path, text, collectionLocation)
    }

    /// A step and its place in the file.
    package struct LocatedStep: Sendable {
        /// What is done.
        package var step: Step
        /// Where the file says so.
        package var location: SourceLocation

        /// Joins the two.
        package init(step: Step, location: SourceLocation) { (self.step, self.location) = (step, location) }
    }

    /// How fast a job may go, and how far.
    package struct Limits: Hashable, Sendable {
        /// The most documents in a chunk, whatever its bytes and its time.
        package var chunkDocuments = 100_000
        /// The bytes that a chunk is aimed at.
        package var chunkBytes = 16 << 20
        /// The server's work that a chunk is aimed at.
        package var chunkTime = Duration.milliseconds(500)
        /// How many parts of a chunk are read and written side by side.
        package var concurrency = 2
        /// The count of unsynced documents at which sync stops.
        package var unsynced = 100_000
        /// The part of ``unsynced`` that the job leaves free.
        package var reserve = Reserve.percent(10)
        /// Rest per unit of work: 0.5 rests half as long as each chunk took.
        package var nice = 0.0
        /// At what the deployment's state makes the run wait.
        package var throttle = ThrottleLimits()

        /// More commands side by side than a primary has use for beside its other work.
        static let mostConcurrency = 16

        /// The unsynced documents that the ledger and the job's own harm stay under.
        package var ceiling: Int { unsynced - reserve.count(of: unsynced) }
    }

    /// A part of a limit, as a count or in percent.
    package enum Reserve: Hashable, Sendable {
        /// So many documents.
        case documents(Int)
        /// So much of the limit, rounded up.
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
    /// What is added to the name of a job for its clean-up.
    package static let cleanupSuffix = ".cleanup"

    /// The fields that its steps may write or take away, each once.
    package var touched: [FieldPath] {
        var seen: Set<FieldPath> = []
        return steps.flatMap { $0.step.kind.parts.flatMap(\.touched) }.filter { seen.insert($0).inserted }
    }
}

/// A part of a job is a job of its own, with its own lease, checkpoint and journal: these are the parts' names.
extension CheckPart {
    /// What all parts of a job have in their names.
    private static let mark = ".part-"

    /// The name of this part of a job.
    package func name(of job: String) -> String { "\(job)\(Self.mark)\(number)-of-\(count)" }

    /// Whether a name is that of a part of a job.
    package static func isName(_ name: String) -> Bool { pieces(of: name) != nil }

    /// Whether two jobs are parts of one, so that no document is both's.
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
    /// - Parameter condition: which documents the job is for.
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

/// A job that runs in many databases of one shape is in each of them a job of its own, with its own lease, checkpoint and
/// journal: its name there, and what it names there.
extension Job {
    /// What stands before the database in the name of such a job.
    private static let mark = ".in-"

    /// The job's name in a database; `nil` where no job can be called so.
    package func name(in database: String) -> String? {
        let name = "\(self.name)\(Self.mark)\(database)"
        return JobFile.isName(name) ? name : nil
    }

    /// The first collection that a step names in another database than that of the job's collection, and the step's place.
    package var elsewhere: (namespace: Namespace, location: SourceLocation)? {
        for located in steps {
            let others = located.step.kind.namespaces.filter { $0.database != namespace.database }
            if let other = others.first { return (other, located.location) }
        }
        return nil
    }

    /// The same job for the collections of those names in another database; its text stays as it is.
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

/// What is wrong with a job file, where, and how to mend it.
package typealias JobError = LocatedError
