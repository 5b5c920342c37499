internal import Backfill
internal import Foundation
internal import Planning
internal import Reporting
internal import SystemPackage

/// The files of a plan.
struct PlanFiles {
    let files: [PlanFile]
    private let plan: SchemaPlan
    private let folder: String?

    /// The folder, below that of the others, for jobs that have to wait: `migrate` does not look into it.
    static let lateFolder = "after-deploy"

    /// - Parameter folder: where the files go; `nil` for standard output.
    init(_ plan: SchemaPlan, folder: String?, old: SchemaArgument, new: SchemaArgument) {
        (self.plan, self.folder) = (plan, folder)
        let base = folder.map { FilePath($0) }
        func place(_ job: PlannedJob) -> FilePath {
            let name = PlannedJob.fileName(of: job.namespace)
            let isLate = job.stage == .afterDeploy
            return FilePath(isLate ? "\(Self.lateFolder)/\(name)-after-deploy.yml" : "\(name).yml")
        }
        files = plan.collections.flatMap { collection in
            collection.jobs.map { job in
                let path = base?.pushing(place(job))
                let home = path?.removingLastComponent() ?? "."
                let follower = collection.jobs.first { $0.stage == .afterDeploy && job.stage != .afterDeploy }
                return PlanFile(
                    job, path: path?.string, old: old.name, new: new.name,
                    oldPath: old.path(from: home), newPath: new.path(from: home),
                    follower: follower.map { base == nil ? "the job \($0.name)" : place($0).string })
            }
        }
    }

    /// The files' texts, each read back as the job that was planned, and fitted to its schemas as a run would.
    /// - Throws: ``PlanDefect`` when a text is no such job.
    func texts(of planner: Planner, ids: IDDisplay, showsValues: Bool) throws -> [String] {
        try files.map { file in
            guard let collection = plan.collections.first(where: { $0.namespace == file.job.namespace }) else {
                throw PlanDefect(description: "a job without a collection was planned: \(file.job.name)")
            }
            let text = PlanYAML(file, of: collection, ids: ids, showsValues: showsValues).text
            do {
                let job = try JobFile.parse(text, path: file.path ?? file.job.name)
                let planned = try JobFile.parse(file.job.bareText, path: file.job.name)
                guard job.steps.map(\.step) == planned.steps.map(\.step), job.name == planned.name else {
                    throw PlanDefect(description: "the file of job \(file.job.name) does not say what was planned")
                }
                _ = try planner.compiled(file.job)
            } catch let error as JobError {
                throw PlanDefect(description: "a job was planned that cannot run: \(error)")
            }
            return text
        }
    }

    /// Writes the files, all or, when one of them stands there already, none.
    /// - Throws: ``OutputError``.
    func write(_ texts: [String], replacing: Bool) throws {
        let paths = files.compactMap(\.path)
        if !replacing, let present = paths.first(where: { (try? FilePath($0).stat()) != nil }) {
            throw OutputError(
                description: "\(present) stands there already, and nothing was written: --force replaces it")
        }
        for (path, text) in zip(paths, texts) {
            do {
                try FileManager.default.createDirectory(
                    atPath: FilePath(path).removingLastComponent().string, withIntermediateDirectories: true)
                let file = try AtomicFile(path)
                do { try file.write(text.utf8) } catch {
                    file.discard()
                    throw error
                }
                try file.commit()
            } catch let error as CocoaError {
                // Foundation's own words are not for people.
                let reason = (error.underlying as? POSIXError).map { "\(Errno(rawValue: $0.code.rawValue))" }
                throw OutputError(description: "cannot write \(path): \(reason ?? "its folder cannot be made")")
            } catch {
                throw OutputError(description: "cannot write \(path): \(error)")
            }
        }
    }

    /// Several jobs as one stream of YAML documents.
    static func stream(_ texts: [String]) -> String { texts.joined(separator: "---\n") }
}

/// A plan that is not what it should be: a bug.
struct PlanDefect: Error, CustomStringConvertible {
    let description: String
}
