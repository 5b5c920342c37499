import BSON
package import Checking
import Foundation
package import Jobs
import LocatedYAML
import ServerSchema
package import Steps
import SystemPackage

/// A folder of jobs, which run in the order of their files' names; the jobs in ``afterDeploy`` run last.
package struct JobFolder: Sendable {
    /// The name of the subfolder for jobs that must not run before their next schemas are deployed.
    package static let afterDeploy = "after-deploy"

    package struct Entry: Sendable {
        /// The name of the job's file, with the subfolder in which it is.
        package var file: String
        package var parsed: Job
        fileprivate let compiled: Result<CompiledJob, any Error>
        /// The digest of the job's content, which shows whether the content changed after the job was applied.
        package var digest: String

        /// The compiled job.
        /// - Throws: the errors of reading its schemas, which do not matter for a job that was applied; ``JobError``.
        package var job: CompiledJob { get throws { try compiled.get() } }

        package var name: String { parsed.name }

        /// The phase of a schema change to which the job belongs.
        package var phase: Phase { parsed.requiresDeploy ? .contract : .migrate }
    }

    /// A phase of a schema change; the deploy is between the two.
    package enum Phase: String, Sendable {
        /// Jobs that run before the deploy, and again after it.
        case migrate
        /// Jobs that run after the deploy only.
        case contract
    }

    /// The path of the folder, as the operator gave it.
    package let path: String
    /// The jobs of the folder, in order.
    package let entries: [Entry]
    /// The names of the files that hold a draft of a job, in order.
    package let drafts: [String]

    /// Reads the jobs and drafts from the `.yml` and `.yaml` files directly in a folder, and then from those in its
    /// subfolder ``afterDeploy``.
    ///
    /// Hidden files are skipped.
    /// - Throws: ``JobError``; the errors of reading a schema.
    package static func read(at path: String, assuming assumptions: CheckOptions) throws -> JobFolder {
        var files = try jobFiles(in: path)
        let late = FilePath(path).appending(afterDeploy)
        if (try? late.stat().type) == .directory {
            files += try jobFiles(in: late.string).map { "\(afterDeploy)/\($0)" }
        }
        guard !files.isEmpty else { throw JobError("\(path) has no jobs: it contains no .yml or .yaml file") }
        return try read(files, in: path, assuming: assumptions)
    }

    /// Reads jobs and drafts from files.
    /// - Parameters:
    ///   - files: the paths of the files, in the order in which the jobs run.
    ///   - path: the folder from which the paths start, or an empty text.
    /// - Throws: as ``read(at:assuming:)`` does.
    package static func read(
        _ files: [String], in path: String = "", assuming assumptions: CheckOptions
    ) throws -> JobFolder {
        var (entries, drafts): ([Entry], [String]) = ([], [])
        for file in files {
            let place = FilePath(path).pushing(FilePath(file)).string
            let text = try YAMLFile.text(at: place, limit: JobFile.largestSize)
            guard !JobFile.isDraft(text) else {
                drafts.append(file)
                continue
            }
            let job = try JobFile.parse(text, path: place)
            let start = SourceLocation(file: job.path, line: 1, column: 1)
            if let twin = entries.first(where: { $0.name == job.name }) {
                throw JobError(
                    "\(twin.file) already has a job \"\(job.name)\": each job needs its own name", at: start)
            }
            guard job.requiresDeploy || !file.hasPrefix("\(afterDeploy)/") else {
                throw JobError(
                    "the job could run before the deploy: write \"requires: \(JobFile.deployed)\" into it, or move the "
                        + "file out of \(afterDeploy)", at: start)
            }
            let compiled = Result { try CompiledJob(reading: job, assuming: assumptions) }
            let digest = SHA256.text(of: Array(JobFile.content(of: text).utf8))
            entries.append(Entry(file: file, parsed: job, compiled: compiled, digest: digest))
        }
        return JobFolder(path: path, entries: entries, drafts: drafts)
    }

    private static func jobFiles(in folder: String) throws(JobError) -> [String] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return names.filter { !$0.hasPrefix(".") && ($0.hasSuffix(".yml") || $0.hasSuffix(".yaml")) }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        } catch {
            let isMissing = (error as? CocoaError)?.code == .fileReadNoSuchFile
            let reason = isMissing ? "it does not exist" : "it is not a readable folder"
            throw JobError("cannot read the folder of jobs \(folder): \(reason)")
        }
    }
}
