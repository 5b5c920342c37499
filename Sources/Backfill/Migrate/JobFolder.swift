import BSON
package import Checking
import Foundation
import Jobs
import LocatedYAML
import ServerSchema
package import Steps
import SystemPackage

/// A folder of jobs, which run in the order of their files' names.
package struct JobFolder: Sendable {
    /// A job of the folder.
    package struct Entry: Sendable {
        /// The name of the job's file.
        package var file: String
        /// The job that the file holds.
        package var job: CompiledJob
        /// The digest of the job's content and of its schemas, which shows whether they changed after the job was
        /// applied.
        package var digest: String

        /// The job's name.
        package var name: String { job.job.name }
    }

    /// The path of the folder, as the operator gave it.
    package let path: String
    /// The jobs of the folder, in order.
    package let entries: [Entry]
    /// The names of the files that hold a draft of a job, in order.
    package let drafts: [String]

    /// Reads the jobs and drafts from the `.yml` and `.yaml` files directly in a folder, except hidden files.
    /// - Throws: ``JobError``; the errors of reading a schema.
    package static func read(at path: String, assuming assumptions: CheckOptions) throws -> JobFolder {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw JobError("cannot read the folder of jobs \(path): \(reason(error))")
        }
        let files = names.filter { !$0.hasPrefix(".") && ($0.hasSuffix(".yml") || $0.hasSuffix(".yaml")) }
        guard !files.isEmpty else { throw JobError("\(path) has no jobs: it contains no .yml or .yaml file") }
        var (entries, drafts): ([Entry], [String]) = ([], [])
        for file in files.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let place = FilePath(path).appending(file).string
            let text = try YAMLFile.text(at: place, limit: JobFile.largestSize)
            guard !JobFile.isDraft(text) else {
                drafts.append(file)
                continue
            }
            let job = try JobFile.parse(text, path: place)
            if let twin = entries.first(where: { $0.name == job.name }) {
                throw JobError(
                    "\(twin.file) already has a job \"\(job.name)\": each job needs its own name",
                    at: SourceLocation(file: job.path, line: 1, column: 1))
            }
            let compiled = try CompiledJob(reading: job, assuming: assumptions)
            let digest = compiled.digest(of: JobFile.content(of: job.text))
            entries.append(Entry(file: file, job: compiled, digest: digest))
        }
        return JobFolder(path: path, entries: entries, drafts: drafts)
    }

    private static func reason(_ error: any Error) -> String {
        (error as? CocoaError)?.code == .fileReadNoSuchFile ? "it does not exist" : "it is not a readable folder"
    }
}

extension CompiledJob {
    /// Returns the SHA-256 of `text`, which is a version of the job's text, and of the roles, paths and texts of the
    /// job's schemas.
    func digest(of text: String) -> String {
        let schemas = sources.map { role, source in
            BSONValue.array(of: [.string(role), .string(source.path), .string(source.text)])
        }
        let all: BSONDocument = ["text": .string(text), "schemas": .array(of: schemas)]
        return SHA256.text(of: all.bytes)
    }
}
