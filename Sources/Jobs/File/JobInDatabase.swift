package import BSON
package import ServerSchema

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
