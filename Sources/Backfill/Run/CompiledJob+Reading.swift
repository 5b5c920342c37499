package import Checking
package import Jobs
package import ServerSchema
import SystemPackage

extension CompiledJob {
    /// Reads the schemas that a job names, by paths relative to its file, and compiles it.
    /// - Throws: ``JobError``, or what reading a schema throws.
    package init(reading job: Job, assuming assumptions: CheckOptions) throws {
        try self.init(
            job, active: try job.schema(at: job.activeSchema), next: try job.schema(at: job.nextSchema),
            assuming: assumptions)
    }
}

extension Job {
    /// Reads a schema that the job names, by a path relative to its file.
    /// - Throws: what reading a schema throws.
    package func schema(at path: String?) throws -> ServerSchema? {
        guard let path else { return nil }
        return try ServerSchema.read(at: resolved(path), namespace: namespace)
    }

    /// A path that the job names, as seen from here.
    package func resolved(_ path: String) -> String {
        FilePath(self.path).removingLastComponent().pushing(FilePath(path)).string
    }
}
