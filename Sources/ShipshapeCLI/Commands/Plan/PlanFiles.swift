internal import BSON
internal import Checking
internal import Foundation
internal import Jobs
internal import Partners
internal import Planning
internal import Reporting
internal import ServerSchema
internal import SystemPackage

/// The files of a plan.
struct PlanFiles {
    let files: [PlanFile]
    let partners: [PlanPartner]
    private let plan: SchemaPlan
    private let folder: String?

    /// The folder, below that of the others, for jobs that have to wait: `migrate` does not look into it.
    static let lateFolder = "after-deploy"
    /// The folder for partner jobs, which other commands run.
    static let partnerFolder = "partner"

    /// - Parameter folder: where the files go; `nil` for standard output.
    init(_ plan: SchemaPlan, folder: String?, old: SchemaArgument, new: SchemaArgument) {
        (self.plan, self.folder) = (plan, folder)
        let base = folder.map { FilePath($0) }
        func place(_ job: PlannedJob) -> FilePath {
            // No collection's own file has such a name.
            let name = PlannedJob.fileName(of: job.namespace) + (job.part.map { "+\($0.name)" } ?? "")
            let isLate = job.stage == .afterDeploy
            return FilePath(isLate ? "\(Self.lateFolder)/\(name)-after-deploy.yml" : "\(name).yml")
        }
        partners = plan.partners.map { Self.partner($0, in: base, old: old, new: new) }
        files = plan.collections.flatMap { collection in
            collection.jobs.map { job in
                let path = base?.pushing(place(job))
                let home = path?.removingLastComponent() ?? "."
                let followers = collection.jobs.filter { $0.stage == .afterDeploy && job.stage != .afterDeploy }
                    .map { base == nil ? "the job \($0.name)" : place($0).string }
                return PlanFile(
                    job, path: path?.string, old: old.name, new: new.name,
                    oldPath: old.path(from: home), newPath: new.path(from: home),
                    follower: followers.isEmpty ? nil : followers.joined(separator: " and "))
            }
        }
    }

    /// A partner job with its place.
    private static func partner(
        _ draft: PartnerDraft, in base: FilePath?, old: SchemaArgument, new: SchemaArgument
    ) -> PlanPartner {
        let path = base?.appending(partnerFolder).appending("\(PlannedJob.fileName(of: draft.source)).yml")
        let home = path?.removingLastComponent() ?? "."
        let text = PlanYAML.text(
            of: draft, old: old.name, new: new.name, oldPath: old.path(from: home), newPath: new.path(from: home))
        return PlanPartner(draft, path: path?.string, text: text)
    }

    /// The jobs' texts, each read back as the job that was planned, and fitted to its schemas as a run would; so is each
    /// partner job of which the schemas leave nothing open.
    /// - Throws: ``PlanDefect`` when a text is no such job.
    func texts(of planner: Planner, ids: IDDisplay, showsValues: Bool) throws -> [String] {
        for partner in partners where partner.draft.open.isEmpty {
            do throws(JobError) {
                let job = try PartnerJob.parse(partner.text, path: partner.path ?? partner.draft.name)
                _ = try Partner(job, source: planner.old, target: planner.new, assuming: CheckOptions())
            } catch {
                throw PlanDefect(description: "a partner job was planned that cannot run: \(error)")
            }
        }
        return try files.map { file in
            guard let collection = plan.collections.first(where: { $0.namespace == file.job.namespace }) else {
                throw PlanDefect(description: "a job without a collection was planned: \(file.job.name)")
            }
            let text = PlanYAML(file, of: collection, ids: ids, showsValues: showsValues).text
            if file.job.isDraft { return text }
            do {
                let job = try JobFile.parse(text, path: file.path ?? file.job.name)
                var planned = try JobFile.parse(file.job.bareText, path: file.job.name)
                (planned.activeSchema, planned.nextSchema) = file.schemas
                guard job.saysTheSame(as: planned) else {
                    throw PlanDefect(description: "the file of job \(file.job.name) does not say what was planned")
                }
                try planner.check(file.job)
            } catch let error as JobError {
                throw PlanDefect(description: "a job was planned that cannot run: \(error)")
            }
            return text
        }
    }

    /// Files of an earlier plan for some of the collections, which this plan has no job for.
    ///
    /// A file that no plan wrote is none.
    private func leftovers(of collections: Set<Namespace>) -> [FilePath] {
        guard let folder = folder.map({ FilePath($0) }) else { return [] }
        let planned = Set(files.compactMap(\.path) + partners.compactMap(\.path))
        let places = [
            (folder, ""), (folder.appending(Self.lateFolder), "-after-deploy"),
            (folder.appending(Self.partnerFolder), ""),
        ]
        return places.flatMap { folder, end in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
            let old = names.sorted().filter { name in
                guard name.hasSuffix("\(end).yml") else { return false }
                let stem = name.dropLast(end.count + ".yml".count)
                return collections.contains { collection in
                    let own = PlannedJob.fileName(of: collection)
                    let part = stem.hasPrefix("\(own)+") ? stem.dropFirst(own.count + 1) : ""
                    return stem == own || !part.isEmpty && part.allSatisfy(\.isASCII) && part.allSatisfy(\.isNumber)
                }
            }
            return old.map { folder.appending($0) }.filter { path in
                let text = try? SourceFile.text(of: path.string, limit: JobFile.largestSize)
                return !planned.contains(path.string) && text?.contains(PlanYAML.mark) == true
            }
        }
    }

    /// Writes the files, all or, when one of them stands there already, none; what an earlier plan left goes.
    /// - Parameter collections: the collections that are planned for.
    /// - Returns: the files that were removed.
    /// - Throws: ``OutputError``.
    func write(_ texts: [String], replacing: Bool, for collections: Set<Namespace>) throws -> [String] {
        let leftovers = leftovers(of: collections)
        if !replacing, let leftover = leftovers.first {
            throw OutputError(
                description: "\(leftover) stands there from another plan, and this one has no such job; nothing was "
                    + "written: --force removes it")
        }
        try write(texts, replacing: replacing)
        for path in leftovers {
            do { try FileManager.default.removeItem(atPath: path.string) } catch {
                throw OutputError(description: "cannot remove \(path), which an earlier plan left")
            }
        }
        return leftovers.map(\.string)
    }

    private func write(_ texts: [String], replacing: Bool) throws {
        let paths = files.compactMap(\.path) + partners.compactMap(\.path)
        try NewFiles(zip(paths, texts + partners.map(\.text))).write(replacing: replacing)
    }
}

extension Job {
    /// Whether another text comes to the same job.
    fileprivate func saysTheSame(as other: Job) -> Bool {
        (name, namespace, activeSchema, nextSchema) == (
            other.name, other.namespace, other.activeSchema, other.nextSchema
        )
            && steps.map(\.step) == other.steps.map(\.step) && limits == other.limits
            && keepsJournal == other.keepsJournal
    }
}

/// A plan that is not what it should be: a bug.
struct PlanDefect: Error, CustomStringConvertible {
    let description: String
}
