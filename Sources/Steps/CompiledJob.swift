package import BSON
package import Checking
package import JobState
package import Jobs
import LocatedYAML
package import Mongo
package import SchemaChange
package import ServerSchema
import SystemPackage

/// A job that is ready to run, with its steps compiled for the server and its schemas for the checker.
package struct CompiledJob: Sendable {
    package private(set) var job: Job
    /// The active schema; `nil` if the job names none.
    package private(set) var active: CompiledSchema?
    /// Whether documents that stop fitting the active schema are counted.
    ///
    /// They are counted only under an App Services schema, because App Services keeps a ledger of such documents. A
    /// validator, for example, has neither a ledger nor a limit, because the server refuses documents that do not fit.
    package private(set) var countsUnsyncable: Bool
    /// The next schema, which the documents fit after the job; `nil` if the job names none.
    package let next: CompiledSchema?
    /// The changes from the active schema to the next one in the job's collection; empty if the job does not name both
    /// schemas.
    package let changes: [SchemaChange]
    /// The documents that the job covers: the whole collection, or the part between two `_id`s.
    package private(set) var scope = ReadScope.collection
    /// The schema files that the job uses, each with the role `active` or `next`.
    package let sources: [(role: String, source: SchemaSource)]
    /// The internal ids of the sync engine's app, which the ledger's entries contain; empty if the schemas do not name
    /// the app.
    package let appIDs: [String]
    /// For each collection whose documents the job embeds, the fields that link to that collection.
    ///
    /// The active schema declares the links. If the job names no active schema, the next schema declares them.
    private let links: [Namespace: [(namespace: Namespace, path: SchemaPath)]]
    /// Notes to show before a run, on fields that steps at any depth do not reach.
    var remarks: [String] = []
    /// The result of a comparison with the server, for the job's record; `nil` if none was made.
    package var proof: BSONDocument?
    /// How the program and the server disagree on the steps, as a sentence without a period; `nil` if they do not.
    package var disagreement: String?
    /// The phases that each chunk goes through, in their order.
    package private(set) var phases: [Phase]
    /// The phase of a refresh, which writes a value again if the source from which the job computed it has changed.
    ///
    /// `nil` if no step refreshes its target.
    package private(set) var refreshing: Phase?
    /// The schemas and assumptions by which the job was compiled.
    private let compiledBy: (active: ServerSchema?, next: ServerSchema?, assumptions: CheckOptions)
    /// The values that ``phases``, ``refreshing`` and ``countsUnsyncable`` get when the next schema is deployed.
    ///
    /// `nil` if the job names no next schema.
    private var deployed: (phases: [Phase], refreshing: Phase?, countsUnsyncable: Bool)?

    /// Adapts the job's steps to its schemas, and compiles both.
    /// - Parameter assumptions: the assumptions about the app.
    /// - Throws: ``JobError`` when a step does not fit a schema or another step, when a schema lacks the job's
    ///   collection, or when a rename does not fit the schemas.
    package init(
        _ job: Job, active: ServerSchema?, next: ServerSchema?, assuming assumptions: CheckOptions = CheckOptions()
    ) throws(JobError) {
        compiledBy = (active, next, assumptions)
        let activeCollection = try active?.collection(of: job, role: "active")
        let nextCollection = try next?.collection(of: job, role: "next")
        try StepOrder.check(job.steps)
        var job = job
        let (activeRoot, nextRoot) = (activeCollection?.described.root, nextCollection?.described.root)
        for index in job.steps.indices {
            job.steps[index].step = try StepFitting.fit(job.steps[index], active: activeRoot, next: nextRoot)
        }
        job.steps = StepOrder.joined(job.steps)
        self.job = job
        self.active = activeCollection.map { CompiledSchema($0, of: active, options: assumptions) }
        let countsUnsyncable = activeCollection?.dialect == .appServices
        self.countsUnsyncable = countsUnsyncable
        self.next = nextCollection.map { CompiledSchema($0, of: next, options: assumptions) }
        changes =
            if let activeCollection, let nextCollection {
                try job.changes(from: activeCollection, to: nextCollection)
            } else {
                []
            }
        sources =
            (active?.sources ?? []).map { ("active", $0) } + (next?.sources ?? []).map { ("next", $0) }
        let live = active ?? next
        let embedded = Set(job.steps.compactMap(\.step.kind.embeddedCollection))
        links = Dictionary(uniqueKeysWithValues: embedded.map { ($0, live?.links(to: $0) ?? []) })
        appIDs = [active?.appID, next?.appID].compactMap(\.self)
        let parts = try Self.phases(of: job.steps)
        let isRisky = { (schema: ServerSchema?, collection: CollectionSchema?) in
            { (step: CompiledStep) in
                guard let schema, let collection, collection.dialect == .appServices else { return false }
                return !StepSafety.holds(step.step, under: collection, of: schema, assuming: assumptions)
            }
        }
        let judged = { (schema: ServerSchema?, collection: CollectionSchema?) in
            parts.map { Phase($0, isRisky: isRisky(schema, collection)) }
        }
        let refreshed = Self.refreshing(job.steps, with: parts.flatMap(\.self))
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

    /// Returns the job with other steps; they may not add or remove collections.
    /// - Throws: ``JobError``, as ``init(_:active:next:assuming:)``.
    func with(_ steps: [Job.LocatedStep]) throws(JobError) -> CompiledJob {
        var job = job
        job.steps = steps
        var compiled = try CompiledJob(
            job, active: compiledBy.active, next: compiledBy.next, assuming: compiledBy.assumptions)
        compiled.scope = scope
        return compiled
    }

    /// Returns the job after its client-side steps have read the data that they need before the first document.
    /// - Throws: ``RunError`` when a collection that a step reads does not exist or cannot be used; ``MongoError``.
    package func prepared(on collection: MongoCollection) throws -> CompiledJob {
        guard !isServerSide else { return self }
        var prepared = self
        let prepare = { (phases: [Phase]) in Phase.inOrder(try phases.map { try $0.prepared(in: context(collection)) })
        }
        prepared.phases = try prepare(phases)
        prepared.deployed?.phases = try deployed.map { try prepare($0.phases) } ?? []
        return prepared
    }

    /// Returns the job with another note to show before a run.
    package func noting(_ remark: String) -> CompiledJob {
        var job = self
        job.remarks.append(remark)
        return job
    }

    /// Returns the job, whose steps the server evaluates for every document.
    package func leftToServer() -> CompiledJob {
        var job = self
        job.phases = phases.map { $0.leftToServer() }
        job.deployed?.phases = deployed.map { $0.phases.map { $0.leftToServer() } } ?? []
        job.refreshing = refreshing?.leftToServer()
        job.deployed?.refreshing = deployed?.refreshing?.leftToServer()
        return job
    }

    /// Returns the job under another name, limited to the documents of `scope`.
    package func named(_ name: String, over scope: ReadScope) -> CompiledJob {
        var named = self
        (named.job.name, named.scope) = (name, scope)
        return named
    }

    /// Returns the job with every `$now` and `$$NOW` in its steps replaced by `now`, in milliseconds since 1970.
    package func resolved(at now: Int64) -> CompiledJob {
        guard steps.contains(where: { $0.step.resolved(at: now) != $0.step }) else { return self }
        var resolved = self
        let resolve = { (phases: [Phase]) in Phase.inOrder(phases.map { $0.resolved(at: now) }) }
        resolved.phases = resolve(phases)
        resolved.deployed?.phases = deployed.map { resolve($0.phases) } ?? []
        resolved.refreshing = refreshing?.resolved(at: now)
        resolved.deployed?.refreshing = deployed?.refreshing?.resolved(at: now)
        return resolved
    }

    /// Returns the context in which the job's client-side steps run.
    package func context(_ collection: MongoCollection) -> ClientContext {
        ClientContext(job: job.name, collection: collection, links: links)
    }

    private static func phases(of steps: [Job.LocatedStep]) throws(JobError) -> [[CompiledStep]] {
        let parts = steps.flatMap { located in located.step.kind.parts.map { (located.step.with($0), located.location) }
        }
        let altered = AlteredDocument(by: parts.map(\.0), seeingKeys: false)
        var phases: [[CompiledStep]] = [[]]
        for (part, location) in parts {
            let isClientSide = part.kind.clientComputation != nil || phases.last?.last?.client != nil
            if isClientSide, phases.last?.isEmpty == false { phases.append([]) }
            let guards = try guards(of: part, at: location, after: phases.flatMap(\.self))
            var step = CompiledStep(part, altered: altered, guards: guards)
            step.location = location
            phases[phases.count - 1].append(step)
        }
        return phases
    }

    /// Returns the conditions under which a step may remove a field: no earlier step that takes over the field's value
    /// skipped the document, because the value would then be lost.
    /// - Throws: ``JobError`` if the client computes a step in between that changes the target, which then no longer
    ///   shows whether it took over the value.
    private static func guards(
        of step: Step, at location: SourceLocation, after earlier: [CompiledStep]
    ) throws(JobError) -> [Expression] {
        guard let unset = step.kind as? UnsetStep, !unset.changesInPlace else { return [] }
        var guards: [Expression] = []
        for (index, reader) in earlier.enumerated() where reader.client == nil {
            let taken = reader.step.sources + reader.step.kind.removed
            guard let read = taken.first(where: unset.field.overlaps) else { continue }
            let between = earlier[(index + 1)...]
            let changing = between.first { later in
                reader.step.targets.contains { later.step.changes($0) && !later.step.isStated(for: $0) }
            }
            if let changing {
                let lines = [reader, changing].map { $0.location?.line ?? 0 }
                throw JobError(
                    "\"\(read)\" would be lost where the step in line \(lines[0]) skipped it: the step in line "
                        + "\(lines[1]) changes what was written. Put this step before that one", at: location)
            }
            let then = reader.step.with(reader.step.kind.followed(by: between.map(\.step)))
            let taking = CompiledStep(then, altered: reader.altered, guards: reader.guards)
            // After a run, the target holds what all later steps made of the value.
            guard let own = taking.skipped(taking: read), let whole = reader.skipped(taking: read) else { continue }
            guards.append(own == whole ? !own : !own || !whole)
        }
        return guards
    }

    /// Returns the compiled steps of the refresh, by which a later run of the job writes a target again if its source
    /// has changed.
    /// - Parameter others: the steps of the job's phases. ``AlteredDocument`` also checks the values that these steps
    ///   read or write, because the server might alter them.
    private static func refreshing(_ steps: [Job.LocatedStep], with others: [CompiledStep]) -> [CompiledStep] {
        let refreshing = steps.compactMap { located in
            located.step.kind.refresh.map { (step: located.step.with($0), location: located.location) }
        }
        let altered = AlteredDocument(by: refreshing.map(\.step) + others.map(\.step), seeingKeys: false)
        return refreshing.map { located in
            var step = CompiledStep(located.step, altered: altered)
            step.location = located.location
            return step
        }
    }

    /// Returns the job compiled for a server of this wire version.
    ///
    /// From MongoDB 5.0 on, the server can find more of the documents in which its write would alter more than the
    /// steps change; see ``AlteredDocument/init(by:seeingKeys:)``.
    package func compiled(for wireVersion: Int) -> CompiledJob {
        guard wireVersion >= ServerHello.wireVersionOf50 else { return self }
        var job = self
        let all = steps.map(\.step)
        let altered = AlteredDocument(by: all, seeingKeys: true)
        job.phases = phases.map { $0.knowing(altered) }
        job.deployed?.phases = deployed.map { $0.phases.map { $0.knowing(altered) } } ?? []
        let refreshed = AlteredDocument(by: (refreshing?.steps.map(\.step) ?? []) + all, seeingKeys: true)
        job.refreshing = refreshing?.knowing(refreshed)
        job.deployed?.refreshing = deployed?.refreshing?.knowing(refreshed)
        return job
    }

    /// Returns the phase with this index; the index after the last phase means the refresh.
    package func phase(at index: Int) -> Phase {
        if index < phases.count { return phases[index] }
        guard let refreshing else { preconditionFailure("no step of the job is run again over what it wrote") }
        return refreshing
    }

    package var steps: [CompiledStep] { phases.flatMap(\.steps) }

    /// A filter for the documents that need the job but are locked by the sync translator.
    package var isLocked: BSONDocument { scope.filter(where: whole.lockedNeeds) }

    package var whole: Phase { Phase(joining: phases) }

    /// Whether the server runs all steps, and the client computes none.
    package var isServerSide: Bool { phases.allSatisfy(\.isServerSide) }

    /// The job after the deploy of the next schema.
    ///
    /// It has the same steps, but its documents are checked against the next schema instead of the active one.
    package var afterDeploy: CompiledJob {
        guard let deployed else { return self }
        var job = self
        (job.active, job.phases, job.countsUnsyncable) = (next, deployed.phases, deployed.countsUnsyncable)
        job.refreshing = deployed.refreshing
        return job
    }

    /// Returns ``afterDeploy`` if an operator recorded the deploy of the next schema, and otherwise the unchanged job.
    package func judged(by control: Control) -> CompiledJob { control.deployed == nil ? self : afterDeploy }

    /// The schema files that the job uses, in the form in which the state database stores them.
    package var schemaRecords: [BSONDocument] {
        sources.map { role, source in
            ["role": .string(role), "path": .string(source.path), "text": .string(source.text)]
        }
    }

    /// Whether no step might make a syncing document unsyncable; always `true` without an App Services schema.
    package var isSafe: Bool { phases.allSatisfy(\.isSafe) && refreshing?.isSafe ?? true }
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
    /// Reads the schemas that a job names, by paths relative to the job file, and compiles the job.
    /// - Throws: ``JobError``; the errors of reading a schema.
    package init(reading job: Job, assuming assumptions: CheckOptions) throws {
        try self.init(
            job, active: try job.schema(at: job.activeSchema), next: try job.schema(at: job.nextSchema),
            assuming: assumptions)
    }
}

extension Job {
    /// Reads a schema that the job names, by a path relative to the job file; returns `nil` if the path is `nil`.
    /// - Throws: the errors of reading a schema.
    package func schema(at path: String?) throws -> ServerSchema? {
        guard let path else { return nil }
        let place = resolved(path)
        try SchemaCopy.check(FilePath(place), for: SourceLocation(file: self.path, line: 1, column: 1))
        return try ServerSchema.read(at: place, namespace: namespace)
    }

    /// Converts a path that is relative to the job file into a path that is relative to the working directory.
    package func resolved(_ path: String) -> String {
        FilePath(self.path).removingLastComponent().pushing(FilePath(path)).string
    }
}

extension CompiledJob {
    /// Whether a run need not survey the documents first, because the kinds of the job's steps prove that no document
    /// can prevent the run.
    ///
    /// This is the case if the job certainly ends, makes no document unsyncable, and skips every document that it
    /// cannot change.
    package var isSafeByForm: Bool {
        endsByConstruction && isSafe && job.steps.allSatisfy { $0.step.kind.refuses.isEmpty }
    }

    /// Whether the kinds of the job's steps prove that no document can need the job again after a run.
    ///
    /// This is the case if the server runs all steps, no step might be needed again after its own write, and no step
    /// reads or writes a field that another step writes. If the value is `false`, only a check of the documents can
    /// show whether they need the job again.
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

extension Job {
    /// Returns the changes between two schemas of the collection.
    ///
    /// A field that the job file declares as renamed counts as one change.
    /// - Throws: ``JobError`` at a rename that does not fit the schemas.
    fileprivate func changes(
        from active: CollectionSchema, to next: CollectionSchema
    ) throws(JobError) -> [SchemaChange] {
        guard !renames.isEmpty else { return SchemaDiff.changes(from: active, to: next) }
        let schemas = [active, next].map { ServerSchema(dialect: $0.dialect, collections: [$0]) }
        do throws(RenameError) {
            return try SchemaDiff.changes(from: schemas[0], to: schemas[1], renames: renames)
        } catch {
            throw JobError("rename \"\(error.rename)\": \(error.message)", at: error.location)
        }
    }
}
