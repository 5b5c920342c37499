package import Checking
import ServerSchema
import SystemPackage

extension CompiledJob {
    /// Reads the schemas that a job names, by paths relative to its file, and compiles it.
    /// - Throws: ``JobError``, or what reading a schema throws.
    package init(reading job: Job, assuming assumptions: CheckOptions) throws {
        let schema = { (path: String?) throws -> ServerSchema? in
            guard let path else { return nil }
            let resolved = FilePath(job.path).removingLastComponent().pushing(FilePath(path))
            return try ServerSchema.read(at: resolved.string, namespace: job.namespace)
        }
        try self.init(
            job, active: try schema(job.activeSchema), next: try schema(job.nextSchema), assuming: assumptions)
    }
}
