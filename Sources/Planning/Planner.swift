package import BSON
import Jobs
import SchemaChange
package import ServerSchema

/// Plans the jobs for the difference between two schemas.
package struct Planner: Sendable {
    /// The live schema.
    package let old: ServerSchema
    /// The next schema.
    package let new: ServerSchema
    let options: PlanOptions
    /// The largest number of changes that are planned; each takes about a millisecond.
    private static let mostChanges = 1_000
    /// The largest number of names in the paths of all added fields, because an added object may need two steps for
    /// each field inside it, and a step tests each object on its path.
    private static let mostNames = 3_000

    /// Creates a planner for two schemas of the same dialect; `options` has the renames, defaults and steps that the
    /// user states.
    package init(from old: ServerSchema, to new: ServerSchema, options: PlanOptions = PlanOptions()) {
        (self.old, self.new, self.options) = (old, new, options)
    }

    /// Plans the jobs of all collections.
    /// - Parameter only: the only collection to plan for; `nil` plans for all.
    /// - Throws: ``RenameError`` and ``PlanError`` when a fact that the user states does not fit the schemas;
    ///   ``JobError`` when a planned step does not fit the schemas, which is a defect of the planner.
    package func plan(only: Namespace? = nil) throws -> SchemaPlan {
        let changes = try SchemaDiff.changes(from: old, to: new, renames: options.renames)
        let wanted = changes.lazy.filter { only == nil || $0.namespace == only }
        guard wanted.count <= Self.mostChanges else {
            throw Self.tooLarge("the schemas differ in more than \(Self.mostChanges) places")
        }
        let added = wanted.filter { $0.old == nil }
        guard added.reduce(0, { $0 + ($1.new?.node?.names(below: $1.path.steps.count) ?? 0) }) <= Self.mostNames else {
            throw Self.tooLarge("the paths of the added fields have more than \(Self.mostNames) names together")
        }
        var served = changes
        let stated = try statedValues()
        var steps: [StatedStep.Found] = []
        for step in options.steps { steps.append(try step.found(in: changes, from: old)) }
        var plan = SchemaPlan(dialect: new.spokenDialect, collections: [], remarks: [])
        plan.notes = served.carry(by: options.partners)
        let app = FieldPlanner(dialect: new.dialect, old: nil, new: Self.nothing)
        plan.remarks = changes.filter { $0.namespace == nil }.flatMap { app.group(at: $0.path, for: [$0]).entries }
        let affected = Set(changes.compactMap(\.namespace)).union(stated.keys)
        let changesOf = Dictionary(grouping: changes, by: \.namespace)
        for namespace in affected.sorted() where only == nil || only == namespace {
            let own = changesOf[namespace] ?? []
            if let partner = served.partner(keeping: namespace) {
                let entry = PlanEntry(role: .nothing, changes: own, partner: partner)
                plan.collections.append(CollectionPlan(namespace: namespace, jobs: [], remarks: [entry]))
                continue
            }
            plan.collections.append(
                try collection(
                    namespace, own, stated: stated[namespace] ?? [:],
                    steps: steps.filter { $0.changes[0].namespace == namespace }))
        }
        let converted = Set(changes.filter { $0.code == .idTypeChanged }.compactMap(\.namespace))
        for index in plan.collections.indices {
            let own = changesOf[plan.collections[index].namespace] ?? []
            plan.collections[index].partner = partner(of: plan.collections[index], own, converted)
        }
        name(&plan)
        return plan
    }

    /// Returns a draft of the partner job for a collection; `nil` if no partner is recommended.
    ///
    /// A partner is recommended in two cases: an entry of the plan recommends one, or, in App Services, a changed field
    /// links to a collection whose `_id`s get another type. It is never recommended for Prisma, for a collection that
    /// one of the schemas lacks, or if the older schema declares no `_id`.
    private func partner(
        of plan: CollectionPlan, _ changes: [SchemaChange], _ converted: Set<Namespace>
    ) -> PartnerDraft? {
        let source = changes.lazy.compactMap(\.old?.namespace).first ?? plan.namespace
        guard new.dialect != .prisma, !new.isOfClient, let before = old[source], let after = new[plan.namespace],
            before.root.property("_id") != nil
        else {
            return nil
        }
        let isRecommended =
            plan.entries.contains(where: \.isForPartner)
            || new.dialect == .appServices
                && changes.contains { $0.new?.link.map { converted.contains($0.target) } ?? false }
        guard isRecommended else { return nil }
        let renames = changes.filter { $0.code == .propertyRenamed }.compactMap { change -> (String, String)? in
            guard case .field(let from)? = change.oldPath.steps.first, case .field(let to)? = change.path.steps.first,
                change.path.steps.count == 1, change.oldPath.steps.count == 1
            else { return nil }
            return (from, to)
        }
        return PartnerDraft(
            source: source, target: source == plan.namespace ? PartnerDraft.target(for: source) : plan.namespace,
            renames: Dictionary(renames) { first, _ in first }, from: before.root, to: after.root)
    }

    private static func tooLarge(_ reason: String) -> PlanError {
        PlanError(
            "\(reason), the limit for a plan: plan each collection with --collection, or change the schema in smaller "
                + "steps")
    }

    func statedValues() throws -> [Namespace: [SchemaPath: StepLine.Value]] {
        var stated: [Namespace: [SchemaPath: StepLine.Value]] = [:]
        for entry in options.defaults {
            let place = try entry.place(in: new)
            stated[place.collection.namespace, default: [:]][place.path] = try entry.value(for: place)
        }
        return stated
    }

    private func collection(
        _ namespace: Namespace, _ changes: [SchemaChange], stated: [SchemaPath: StepLine.Value],
        steps: [StatedStep.Found]
    ) throws -> CollectionPlan {
        var plan = CollectionPlan(namespace: namespace, jobs: [], remarks: [])
        plan.dialect = new.spokenDialect
        guard let target = new[namespace] else {
            let gone = FieldPlanner(dialect: new.dialect, old: old[namespace], new: Self.nothing)
            plan.remarks = changes.flatMap { gone.group(at: $0.path, for: [$0]).entries }
            return plan
        }
        plan.isForClient = new.isOfClient
        if new.dialect == .jsonSchema, !new.isOfClient { plan.validator = target.root.jsonSchema }
        plan.isBreaking = new.dialect == .appServices && changes.contains { $0.kind.verdict == .breaking }
        let before = changes.lazy.compactMap(\.old?.namespace).first ?? namespace
        var fields = FieldPlanner(dialect: new.dialect, old: old[before], new: target, stated: stated)
        for collection in new.collections {
            guard let before = old[collection.namespace]?.root.property("_id"),
                let after = collection.root.property("_id")
            else { continue }
            fields.keyTypes[collection.namespace] = (Set(before.types), Set(after.types))
        }
        fields.isForClient = new.isOfClient
        fields.isMoved = before != namespace && new.dialect != .jsonSchema
        if case .partition(let key)? = old.sync?.mode { fields.partitionKey = key.field }
        if case .partition(let key)? = new.sync?.mode { fields.nextPartitionKey = key.field }
        var groups = CollectionPlanner(fields: fields, changes: changes, stated: steps).groups()
        if changes.contains(where: { $0.code == .typeAdded && $0.old == nil }) {
            groups += fields.whole()
        }
        try stage(groups, of: fields, movedFrom: before == namespace ? nil : before, into: &plan)
        for index in plan.jobs.indices where plan.jobs[index].isKnownToOld {
            plan.jobs[index].renames = changes.compactMap(\.statedRename)
        }
        return plan
    }

    /// A schema that accepts every document.
    ///
    /// The planner uses it in place of a newer schema for changes that belong to no collection, and for removed
    /// collections.
    private static let nothing = CollectionSchema(
        namespace: Namespace(database: "none", collection: "none"),
        root: SchemaNode(location: SourceLocation(whole: "none")))

    /// Divides the groups of steps between jobs before and after the newer schema's deployment, and adds these jobs.
    ///
    /// If the newer schema is a validator, the first job runs while the server only warns about documents that do not
    /// fit.
    private func stage(
        _ groups: [FieldGroup], of fields: FieldPlanner, movedFrom: Namespace?, into plan: inout CollectionPlan
    ) throws {
        var (early, late): ([PlanEntry], [PlanEntry]) = ([], [])
        // With a validator, the server itself decides which documents fit, so the plan does not consider older clients.
        // With any other schema, older clients read the documents until the newer schema is deployed.
        let hasClients = new.dialect != .jsonSchema
        let check = StageCheck(old: old, new: new, namespace: plan.namespace)
        // Usually, one check of the steps of all groups succeeds, so the groups need not be checked one by one.
        let all = groups.flatMap { $0.steps + $0.late.compactMap(\.step) }
        let areHeld = check.holds(all)
        let areSafe = hasClients && (try? check.areSafe(groups.flatMap(\.steps))) == true
        for group in groups {
            let group =
                areHeld
                ? group : check.refusal(of: group).map { group.refused(because: $0, in: new.spokenDialect) } ?? group
            // The documents of a moved collection are copied to the new collection while no client is running. The
            // steps run after this copy, so they belong to the job that runs after the newer schema is deployed.
            if movedFrom != nil, hasClients {
                late += group.entries
            } else if try !hasClients || areSafe || group.steps.isEmpty || check.areSafe(group.steps) {
                early += group.entries
            } else {
                late += Self.explained(group.entries)
            }
            late += group.late
        }
        if !late.contains(where: { $0.step != nil }) {
            early += late
            late = []
        } else {
            // A step that removes a field is suggested only in a job that runs after the deployment of the newer
            // schema, because older clients may use the field until then.
            let isRemoval = { (entry: PlanEntry) in
                entry.role == .nothing && entry.suggestions.contains { $0.kind == "unset" }
            }
            late += early.filter(isRemoval)
            early.removeAll(where: isRemoval)
        }
        if !early.contains(where: { $0.step != nil }) {
            (early, late) = late.isEmpty ? (early, late) : ([], early + late)
        }
        let isKnown = old[plan.namespace] != nil
        func jobs(_ stage: Stage, _ entries: [PlanEntry]) -> [PlannedJob] {
            var job = PlannedJob(
                name: "", namespace: plan.namespace, stage: stage, isKnownToOld: isKnown, entries: entries)
            job.movedFrom = movedFrom
            return job.parts
        }
        if early.contains(where: { $0.step != nil }) {
            plan.jobs += jobs(hasClients || new.isOfClient ? .beforeDeploy : .whileWarning, early)
        } else {
            let isDecision = { (entry: PlanEntry) in
                entry.suggestions.contains { ["embed", "extract"].contains($0.kind) }
            }
            let drafts = jobs(.afterDeploy, early.filter(isDecision)).filter(\.isDraft)
            plan.remarks = drafts.isEmpty || !late.isEmpty ? early : early.filter { !isDecision($0) }
            if late.isEmpty { plan.jobs += drafts }
        }
        if !late.isEmpty { plan.jobs += jobs(.afterDeploy, late) }
    }

    /// Adds a suggestion to each `convert` step that converts a field in place for a schema change.
    ///
    /// The suggestion is to convert the field into a second field instead.
    ///
    /// A step that converts the elements of a list, or the values of a dictionary, gets no suggestion.
    private static func explained(_ entries: [PlanEntry]) -> [PlanEntry] {
        entries.map { entry in
            guard let step = entry.step, step.kind == "convert", step.text(of: "into") == nil,
                !step.target.hasSuffix(FieldPath.each), let type = step.text(of: "to"), !entry.changes.isEmpty
            else { return entry }
            var entry = entry
            let name = step.target + type.prefix(1).uppercased() + type.dropFirst()
            entry.remarks.append(
                "converted in place, which the older schema refuses; to keep the older schema live, give the newer one "
                    + "a field with another name, and fill that before the deploy:")
            entry.suggestions.append(
                .convert(step.target, from: nil, to: SchemaType(rawValue: type) ?? .string, into: name))
            return entry
        }
    }

    /// Names the jobs of the plan.
    ///
    /// Unless the user states a name, the names depend on the collection, the steps and the schemas.
    package func name(_ plan: inout SchemaPlan) {
        let isOne = plan.collections.count { !$0.jobs.isEmpty } == 1
        for index in plan.collections.indices {
            let collection = plan.collections[index]
            let own = PlannedJob.fileName(of: collection.namespace) + (plan.failing == nil ? "" : "-fix")
            let base = options.name.map { isOne ? $0 : "\($0)-\(own)" } ?? "\(own)-\(digest(of: collection))"
            for job in collection.jobs.indices {
                let isLate = collection.jobs[job].stage == .afterDeploy
                let part = collection.jobs[job].part.map { "-\($0.name)" } ?? ""
                plan.collections[index].jobs[job].name = base + part + (isLate ? "-after-deploy" : "")
            }
        }
    }

    private func digest(of collection: CollectionPlan) -> String {
        let steps = collection.jobs.flatMap { job in [job.stage.rawValue] + job.steps.map(\.text) }
        let schemas = (old.sources + new.sources).map(\.text)
        let all: BSONDocument = [
            "steps": .array(of: steps.map { .string($0) }), "schemas": .array(of: schemas.map { .string($0) }),
        ]
        return String(SHA256.text(of: all.bytes).prefix(8))
    }
}

extension SchemaPlan {
    /// Completes a plan that was made without reading documents.
    ///
    /// The jobs for collections that the older schema does not have become remarks, because these collections may be
    /// empty.
    package mutating func completeWithoutData() {
        for index in collections.indices {
            let isUnknown = { (job: PlannedJob) in !job.isKnownToOld && job.movedFrom == nil }
            let unknown = collections[index].jobs.filter(isUnknown)
            guard !unknown.isEmpty else { continue }
            collections[index].jobs.removeAll(where: isUnknown)
            var entry = PlanEntry(role: .nothing)
            entry.changes = unknown.flatMap { $0.entries.flatMap(\.changes) }
            entry.remarks = ["documents that are already there have to fit: plan with --uri to read them"]
            collections[index].remarks.append(entry)
        }
    }
}

extension SchemaChange {
    /// The rename of a field that the change makes, as a job file states it (`COLLECTION.OLD=NEW`); `nil` for any other
    /// change.
    fileprivate var statedRename: String? {
        guard code == .propertyRenamed, let namespace = old?.namespace, case .field(let name)? = path.steps.last else {
            return nil
        }
        return "\(namespace).\(oldPath)=\(SchemaPath([.field(name)]))"
    }
}

extension SchemaNode {
    /// Returns the number of names in the paths of the value and of all fields inside it.
    fileprivate func names(below level: Int) -> Int {
        properties.reduce(level + (inner?.names(below: level + 1) ?? 0)) { $0 + $1.node.names(below: level + 1) }
    }
}
