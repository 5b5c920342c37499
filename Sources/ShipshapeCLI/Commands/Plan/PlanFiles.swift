internal import BSON
internal import Checking
internal import Files
internal import Foundation
internal import JobReports
internal import Jobs
internal import Partners
internal import Planning
internal import Reporting
internal import ServerSchema
internal import SystemPackage

/// The files that `plan` writes: job files, partner job files, and copies of the schemas that they name.
struct PlanFiles {
    let files: [PlanFile]
    let partners: [PlanPartner]
    let copies: [SchemaCopy]
    private let plan: SchemaPlan
    private let folder: String?

    /// The subfolder for partner jobs, which `shipshape partner` runs and `shipshape backfill` does not.
    static let partnerFolder = "partner"
    /// The suffix in the file names of repair jobs, so that these files do not replace the jobs for a schema change.
    private static let ofRepairs = "+fix"

    /// The first of the folders `jobs`, `jobs-2` and so on that has no repair jobs of an earlier plan.
    ///
    /// `plan --fix` does not overwrite such jobs without `--force`.
    static var folderForRepairs: String {
        let names = sequence(state: 1) { (number: inout Int) -> String? in
            defer { number += 1 }
            return number == 1 ? "jobs" : "jobs-\(number)"
        }
        return names.first { folder in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return !files.contains { $0.contains(ofRepairs) && $0.hasSuffix(".yml") }
        } ?? "jobs"
    }

    /// Creates the files of a plan; writes nothing.
    /// - Parameters:
    ///   - folder: the folder for the files; `nil` for standard output.
    ///   - checked: the arguments of a check of what the plan repairs.
    init(_ plan: SchemaPlan, folder: String?, old: NamedSchema, new: NamedSchema, checked: [String]) {
        (self.plan, self.folder) = (plan, folder)
        let base = folder.map { FilePath($0) }
        let isNamed = !plan.jobs.isEmpty || !plan.partners.isEmpty
        func copy(_ named: NamedSchema) -> SchemaCopy? {
            guard isNamed, !named.argument.isLive else { return nil }
            return base.flatMap { SchemaCopy(of: named.schema, in: $0) }
        }
        let (before, after) = (copy(old), copy(new))
        copies = before?.place == after?.place ? [after].compactMap(\.self) : [before, after].compactMap(\.self)
        func path(_ copy: SchemaCopy?, _ named: NamedSchema, _ home: FilePath) -> String? {
            copy.map { SchemaArgument.path(of: $0.place, from: home) } ?? named.argument.path(from: home)
        }
        func place(_ job: PlannedJob) -> FilePath {
            // The file name of a collection has no `+`. A name with an added `+` and suffix therefore never equals the
            // file name of another collection.
            let own = PlannedJob.fileName(of: job.namespace) + (job.stage == .anyTime ? Self.ofRepairs : "")
            let name = own + (job.part.map { "+\($0.name)" } ?? "")
            let isLate = job.stage == .afterDeploy
            return FilePath(isLate ? "\(JobFolder.afterDeploy)/\(name)-after-deploy.yml" : "\(name).yml")
        }
        partners = plan.partners.map { draft in
            let file = base?.appending(Self.partnerFolder).appending("\(PlannedJob.fileName(of: draft.source)).yml")
            let home = file?.removingLastComponent() ?? "."
            let text = PlanYAML.text(
                of: draft, old: old.argument.name, new: new.argument.name,
                oldPath: plan.failing == nil ? path(before, old, home) : nil,
                newPath: plan.failing == nil ? path(after, new, home) : nil)
            return PlanPartner(draft, path: file?.string, text: text)
        }
        files = plan.collections.flatMap { collection in
            collection.jobs.map { job in
                let file = base?.pushing(place(job))
                let home = file?.removingLastComponent() ?? "."
                let followers = collection.jobs.filter { $0.stage == .afterDeploy && job.stage != .afterDeploy }
                    .map { base == nil ? "the job \($0.name)" : place($0).string }
                return PlanFile(
                    job, path: file?.string, old: old.argument.name, new: new.argument.name, engine: plan.engine,
                    checked: checked, oldPath: path(before, old, home), newPath: path(after, new, home),
                    follower: followers.isEmpty ? nil : followers.joined(separator: " and "))
            }
        }
    }

    /// Returns the texts of the job files, after checking that each one can be read back as the planned job and fits
    /// its schemas.
    ///
    /// A draft of a job is not checked, because its whole file is commented out until the operator chooses a
    /// suggestion. Partner jobs that have no open questions for the operator are read back, too.
    /// - Throws: ``PlanDefect`` if a text fails the check.
    func texts(of planner: Planner, ids: IDDisplay, showsValues: Bool) throws -> [String] {
        for partner in partners where partner.draft.open.isEmpty {
            do throws(JobError) {
                let job = try PartnerJob.parse(partner.text, path: partner.path ?? partner.draft.name)
                // No schema of a repair describes the partner.
                let (old, new) = plan.failing == nil ? (planner.old, planner.new) : (nil, nil)
                _ = try Partner(job, source: old, target: new, assuming: CheckOptions())
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
                planned.requiresDeploy = file.job.stage == .afterDeploy
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

    /// Returns the files of these collections that an earlier plan, and not the operator, wrote, and that no job of
    /// this plan replaces.
    private func leftovers(of collections: Set<Namespace>) -> [FilePath] {
        guard let folder = folder.map({ FilePath($0) }) else { return [] }
        let planned = Set(files.compactMap(\.path) + partners.compactMap(\.path))
        let isOfRepairs = plan.failing != nil
        let mark = isOfRepairs ? PlanYAML.markOfRepairs : PlanYAML.mark
        let places =
            isOfRepairs
            ? [(folder, "")]
            : [
                (folder, ""), (folder.appending(JobFolder.afterDeploy), "-after-deploy"),
                (folder.appending(Self.partnerFolder), ""),
            ]
        return places.flatMap { folder, end in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
            let old = names.sorted().filter { name in
                guard name.hasSuffix("\(end).yml") else { return false }
                let stem = name.dropLast(end.count + ".yml".count)
                return collections.contains { collection in
                    let own = PlannedJob.fileName(of: collection) + (isOfRepairs ? Self.ofRepairs : "")
                    let part = stem.hasPrefix("\(own)+") ? stem.dropFirst(own.count + 1) : ""
                    return stem == own || !part.isEmpty && part.allSatisfy(\.isASCII) && part.allSatisfy(\.isNumber)
                }
            }
            return old.map { folder.appending($0) }.filter { path in
                let text = try? SourceFile.text(of: path.string, limit: JobFile.largestSize)
                return !planned.contains(path.string) && text?.contains(mark) == true
            }
        }
    }

    /// Writes all files, and removes the files of an earlier plan that no job of this plan replaces.
    ///
    /// Without `replacing`, the method throws and writes nothing if there are files to remove, or if a file to be
    /// written exists.
    /// - Parameter collections: the collections of the plan.
    /// - Returns: the files that were removed.
    /// - Throws: ``OutputError``.
    func write(_ texts: [String], replacing: Bool, for collections: Set<Namespace>) throws -> [String] {
        let leftovers = leftovers(of: collections)
        if !replacing, let leftover = leftovers.first {
            throw OutputError(
                description: "nothing was written: \(leftover) is from an earlier plan, and this one has no such job; "
                    + "--force removes it")
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
        let copied = copies.flatMap(\.files)
        let isNew = { (path: String) in (try? FilePath(path).stat()) == nil }
        // The name of a copy is the digest of its files, so an existing copy has the same text and stays.
        try NewFiles(
            Array(zip(paths, texts + partners.map(\.text))) + copied.filter { isNew($0.0) }
        ).write(replacing: replacing)
    }
}

struct NamedSchema {
    let argument: SchemaArgument
    let schema: ServerSchema
}

extension Job {
    /// Whether both jobs have the same name, collection, schemas, steps and limits, and agree on the journal and on the
    /// wait for the deploy, although their texts may differ.
    fileprivate func saysTheSame(as other: Job) -> Bool {
        (name, namespace, activeSchema, nextSchema) == (
            other.name, other.namespace, other.activeSchema, other.nextSchema
        )
            && steps.map(\.step) == other.steps.map(\.step) && limits == other.limits
            && (keepsJournal, requiresDeploy) == (other.keepsJournal, other.requiresDeploy)
    }
}

/// An error for a wrong plan, which is a bug of the planner.
struct PlanDefect: Error, CustomStringConvertible {
    let description: String
}
