package import BSON
package import Checking
package import JobState
package import Jobs
import LocatedYAML
package import Mongo
package import SchemaChange
package import ServerSchema
import SystemPackage

/// A job with its steps in the form that the server runs and its schemas in the form that the checker reads.
package struct CompiledJob: Sendable {
    /// The job as its file states it.
    package private(set) var job: Job
    /// The schema that is live; `nil` when the job names none.
    package private(set) var active: CompiledSchema?
    /// Whether documents that stop fitting the active schema are counted.
    ///
    /// Sync keeps a ledger of them. A validator has neither ledger nor limit, because the server refuses what does not
    /// fit.
    package private(set) var countsHarm: Bool
    /// The schema that the documents are made to fit; `nil` when the job names none.
    package let next: CompiledSchema?
    /// The changes to the job's collection from the active schema to the next one; empty unless the job names both.
    package let changes: [SchemaChange]
    /// The documents that the job covers: all of the collection, or those of a part.
    package private(set) var scope = ReadScope.collection
    /// The schema files that the job is bound to, by role.
    package let sources: [(role: String, source: SchemaSource)]
    /// The app's internal ids, which the ledger's entries carry; empty if the schemas do not name the app.
    package let appIDs: [String]
    /// For each collection whose documents the job embeds, every place of the live app that links to it.
    private let links: [Namespace: [(namespace: Namespace, path: SchemaPath)]]
    /// The phases that each chunk goes through, in their order.
    package private(set) var phases: [Phase]
    /// The phase that writes new source values over targets that the job wrote; `nil` if no step is refreshed.
    package private(set) var refreshing: Phase?
    /// The phases, the refresh and ``countsHarm`` for the time after the deploy of the next schema; `nil` if the job
    /// names none.
    private var deployed: (phases: [Phase], refreshing: Phase?, countsHarm: Bool)?

    /// Fits the job's steps to its schemas and compiles both.
    /// - Parameter assumptions: the assumptions about the app.
    /// - Throws: ``JobError`` when a step and a schema do not fit together.
    package init(
        _ job: Job, active: ServerSchema?, next: ServerSchema?, assuming assumptions: CheckOptions = CheckOptions()
    ) throws(JobError) {
        let activeCollection = try active?.collection(of: job, role: "active")
        let nextCollection = try next?.collection(of: job, role: "next")
        try StepOrder.check(job.steps)
        var job = job
        for index in job.steps.indices {
            job.steps[index].step = try StepFitting.fit(
                job.steps[index], active: activeCollection?.root, next: nextCollection?.root)
        }
        job.steps = StepOrder.joined(job.steps)
        self.job = job
        self.active = activeCollection.map { CompiledSchema($0, of: active, options: assumptions) }
        let countsHarm = activeCollection?.dialect == .appServices
        self.countsHarm = countsHarm
        self.next = nextCollection.map { CompiledSchema($0, of: next, options: assumptions) }
        changes =
            if let activeCollection, let nextCollection {
                SchemaDiff.changes(from: activeCollection, to: nextCollection)
            } else {
                []
            }
        sources =
            (active?.sources ?? []).map { ("active", $0) } + (next?.sources ?? []).map { ("next", $0) }
        let live = active ?? next
        let embedded = Set(job.steps.compactMap(\.step.kind.embeddedCollection))
        links = Dictionary(uniqueKeysWithValues: embedded.map { ($0, live?.links(to: $0) ?? []) })
        appIDs = [active?.appID, next?.appID].compactMap(\.self)
        let parts = Self.phases(of: job.steps)
        let isRisky = { (schema: ServerSchema?, collection: CollectionSchema?) in
            { (step: CompiledStep) in
                guard let schema, let collection, collection.dialect == .appServices else { return false }
                return !Harmlessness.holds(step.step, under: collection, of: schema, assuming: assumptions)
            }
        }
        let judged = { (schema: ServerSchema?, collection: CollectionSchema?) in
            parts.map { Phase($0, isRisky: isRisky(schema, collection)) }
        }
        let refreshed = Self.refreshing(job.steps, beside: parts.flatMap(\.self))
        let refresh = { (schema: ServerSchema?, collection: CollectionSchema?) in
            refreshed.isEmpty
                ? nil
                : Phase(refreshed, touching: parts.flatMap(\.self), isRisky: isRisky(schema, collection))
        }
        refreshing = refresh(active, activeCollection)
        phases = Phase.inOrder(
            judged(active, activeCollection).map { $0.judgingChildren(by: [active, next], assuming: assumptions) })
        deployed = nextCollection.map { collection in
            let phases = judged(next, collection).map { $0.judgingChildren(by: [next], assuming: assumptions) }
            return (Phase.inOrder(phases), refresh(next, collection), collection.dialect == .appServices)
        }
    }

    /// Returns the job with the data that its client-side steps need before the first document.
    /// - Throws: ``RunError`` when a collection that a step reads does not exist; ``MongoError``.
    package func prepared(on collection: MongoCollection) throws -> CompiledJob {
        guard !isServerSide else { return self }
        var prepared = self
        let prepare = { (phases: [Phase]) in Phase.inOrder(try phases.map { try $0.prepared(in: context(collection)) })
        }
        prepared.phases = try prepare(phases)
        prepared.deployed?.phases = try deployed.map { try prepare($0.phases) } ?? []
        return prepared
    }

    /// Returns the job under another name, for some of its documents.
    package func named(_ name: String, over scope: ReadScope) -> CompiledJob {
        var named = self
        (named.job.name, named.scope) = (name, scope)
        return named
    }

    /// Returns the job with a time in place of `$now`, in milliseconds since 1970.
    package func settled(at now: Int64) -> CompiledJob {
        guard steps.contains(where: { $0.step.settled(at: now) != $0.step }) else { return self }
        var settled = self
        let settle = { (phases: [Phase]) in Phase.inOrder(phases.map { $0.settled(at: now) }) }
        settled.phases = settle(phases)
        settled.deployed?.phases = deployed.map { settle($0.phases) } ?? []
        settled.refreshing = refreshing?.settled(at: now)
        settled.deployed?.refreshing = deployed?.refreshing?.settled(at: now)
        return settled
    }

    /// Returns the context in which the job's client-side steps run.
    package func context(_ collection: MongoCollection) -> ClientContext {
        ClientContext(job: job.name, collection: collection, links: links)
    }

    private static func phases(of steps: [Job.LocatedStep]) -> [[CompiledStep]] {
        let parts = steps.flatMap { located in located.step.kind.parts.map { (located.step.with($0), located.location) }
        }
        let altered = CompiledStep.altered(by: parts.map(\.0), seeingKeys: false)
        return parts.reduce(into: [[]]) { phases, located in
            let (part, location) = located
            let isClientSide = part.kind.clientComputation != nil || phases.last?.last?.client != nil
            if isClientSide, phases.last?.isEmpty == false { phases.append([]) }
            var step = CompiledStep(part, altered: altered)
            step.location = location
            phases[phases.count - 1].append(step)
        }
    }

    /// Returns the steps that a refresh runs again.
    private static func refreshing(_ steps: [Job.LocatedStep], beside others: [CompiledStep]) -> [CompiledStep] {
        let refreshing = steps.compactMap { located in
            located.step.kind.refresh.map { (step: located.step.with($0), location: located.location) }
        }
        let altered = CompiledStep.altered(by: refreshing.map(\.step) + others.map(\.step), seeingKeys: false)
        return refreshing.map { located in
            var step = CompiledStep(located.step, altered: altered)
            step.location = located.location
            return step
        }
    }

    /// Returns the job for a server of this version; a newer one detects more documents that it would alter: see
    /// ``CompiledStep/altered(by:seeingKeys:)``.
    package func compiled(for wireVersion: Int) -> CompiledJob {
        guard wireVersion >= ServerHello.wireVersionOf50 else { return self }
        var job = self
        let all = steps.map(\.step)
        let altered = CompiledStep.altered(by: all, seeingKeys: true)
        job.phases = phases.map { $0.knowing(altered) }
        job.deployed?.phases = deployed.map { $0.phases.map { $0.knowing(altered) } } ?? []
        let refreshed = CompiledStep.altered(by: (refreshing?.steps.map(\.step) ?? []) + all, seeingKeys: true)
        job.refreshing = refreshing?.knowing(refreshed)
        job.deployed?.refreshing = deployed?.refreshing?.knowing(refreshed)
        return job
    }

    /// Returns the phase with this index; the index after the last phase is the refresh.
    package func phase(at index: Int) -> Phase {
        if index < phases.count { return phases[index] }
        guard let refreshing else { preconditionFailure("no step of the job is run again over what it wrote") }
        return refreshing
    }

    /// The steps of all phases.
    package var steps: [CompiledStep] { phases.flatMap(\.steps) }

    /// Matches the documents that need the job and are locked by the sync translator.
    package var isLocked: BSONDocument { scope.filter(where: whole.lockedNeeds) }

    /// All phases of the job joined into one.
    package var whole: Phase { Phase(joining: phases) }

    /// Whether the server runs all steps.
    package var isServerSide: Bool { phases.allSatisfy(\.isServerSide) }

    /// The job after the deploy of the next schema: the same steps, judged by that schema.
    package var afterDeploy: CompiledJob {
        guard let deployed else { return self }
        var job = self
        (job.active, job.phases, job.countsHarm) = (next, deployed.phases, deployed.countsHarm)
        job.refreshing = deployed.refreshing
        return job
    }

    /// Returns ``afterDeploy`` if operators recorded the deploy, otherwise the job itself.
    package func judged(by control: Control) -> CompiledJob { control.deployed == nil ? self : afterDeploy }

    /// The schema files that the job is bound to, as the state database records them.
    package var schemaRecords: [BSONDocument] {
        sources.map { role, source in
            ["role": .string(role), "path": .string(source.path), "text": .string(source.text)]
        }
    }

    /// Whether no step can make a document unsyncable.
    package var isHarmless: Bool { phases.allSatisfy(\.isHarmless) && refreshing?.isHarmless ?? true }
}

extension ServerSchema {
    fileprivate func collection(of job: Job, role: String) throws(JobError) -> CollectionSchema {
        guard let found = collections.first(where: { $0.namespace == job.namespace }) else {
            let names = collections.map(\.namespace.description)
            let hint = Spelling.hint(for: job.namespace.description, among: names).map { " (\($0))" } ?? ""
            throw JobError(
                "the \(role) schema has no collection \(job.namespace)\(hint)",
                at: SourceLocation(file: job.path, line: 1, column: 1))
        }
        return found
    }
}

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

    /// Returns a path that the job names, relative to the working directory.
    package func resolved(_ path: String) -> String {
        FilePath(self.path).removingLastComponent().pushing(FilePath(path)).string
    }
}

extension CompiledJob {
    /// Whether the job's form proves that no document can be an obstacle to a run: the job ends, makes no document
    /// unsyncable, and skips what it cannot change.
    package var isSafeByForm: Bool {
        endsByConstruction && isHarmless && job.steps.allSatisfy { $0.step.kind.refuses.isEmpty }
    }

    /// Whether the form of the steps proves that no document needs the job after it, so that no document has to be
    /// checked: no step is free-form, and none reads or writes what another one writes.
    package var endsByConstruction: Bool {
        let kinds = job.steps.map(\.step.kind)
        let reads = job.steps.map(\.step.reads)
        guard isServerSide, !kinds.contains(where: \.mayBeNeededAgain) else { return false }
        return kinds.indices.allSatisfy { index in
            let written = Set(kinds[index].touched.map { $0.components[0] })
            return kinds.indices.allSatisfy { other in
                other == index
                    || written.isDisjoint(with: (kinds[other].touched + reads[other]).map { $0.components[0] })
            }
        }
    }
}
