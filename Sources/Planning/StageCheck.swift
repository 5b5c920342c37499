import BSON
import Checking
import Jobs
import LocatedYAML
import ServerSchema
import Steps

/// Decides which steps may run while the older schema is live: the steps that provably keep documents syncing.
struct StageCheck {
    let old: ServerSchema
    let new: ServerSchema
    let namespace: Namespace
    /// The paths of the older schema's links, as steps name them; `nil` if steps cannot name one of the paths.
    private let linked: RelatedPaths?

    init(old: ServerSchema, new: ServerSchema, namespace: Namespace) {
        (self.old, self.new, self.namespace) = (old, new, namespace)
        let links = old[namespace]?.relationships ?? []
        let places = links.compactMap { $0.source.jobPath?.namesOfJobPath }
        linked = places.count == links.count ? RelatedPaths(places) : nil
    }

    /// Whether it is proven that every document that syncs under the older schema still syncs after the steps.
    ///
    /// In Prisma, the proof is that clients of the older schema can still read each document that they could read.
    /// - Throws: ``JobError`` when the steps do not fit the schemas, which is a defect of the planner.
    func areSafe(_ steps: [StepLine]) throws -> Bool {
        guard let collection = old[namespace] else { return true }
        if collection.dialect == .prisma {
            return steps.allSatisfy { isUnseen($0, by: collection.root) || staysReadable($0, by: collection) }
        }
        guard !steps.contains(where: { mayBeRefused($0, by: collection) }) else { return false }
        let open = steps.filter {
            !isUnseen($0, by: collection.root) && !onlyTakesElements($0, of: collection.root)
                && !fillsOptional($0, of: collection)
        }
        return try open.ofJobs.allSatisfy { try compiled($0).isSafe }
    }

    /// Whether a Prisma client that can read and find a document before the step can still do so after the step.
    private func staysReadable(_ step: StepLine, by collection: CollectionSchema) -> Bool {
        guard let node = node(at: step.target, in: collection.root) else { return false }
        switch step.kind {
        case "default":
            guard let value = step.filling else { return false }
            return node.takes(node.types.first.flatMap { value.fitted(to: $0) } ?? value, in: collection.dialect)
        case "convert":
            return step.text(of: "to").flatMap { SchemaType(rawValue: $0) }.map(node.finds) ?? false
        case "dedupe", "drop-nulls": return true
        default: return false
        }
    }

    /// Whether the step fills in a value that breaks a constraint of the older schema, so that sync might refuse the
    /// document.
    private func mayBeRefused(_ step: StepLine, by collection: CollectionSchema) -> Bool {
        guard step.kind == "default", let value = step.filling, let node = node(at: step.target, in: collection.root),
            let type = node.withoutNull.types.first, node.withoutNull.types.count == 1
        else { return false }
        return !node.takes(value.fitted(to: type) ?? value, in: collection.dialect)
    }

    private func node(at path: String, in root: SchemaNode) -> SchemaNode? {
        var node = root
        for name in path.namesOfJobPath {
            guard let next = name == FieldPath.each ? node.inner : node.property(name) else { return nil }
            node = next
        }
        return node
    }

    /// Whether job files can contain all of the given steps, with at most `JobFile.maximumSteps` steps in each file.
    func holds(_ steps: [StepLine]) -> Bool {
        steps.ofJobs.allSatisfy { (try? job($0)) != nil }
    }

    /// Returns the reason why a job file cannot hold one of the group's steps; `nil` if it can hold all of them.
    func refusal(of group: FieldGroup) -> String? {
        for step in group.steps + group.late.compactMap(\.step) {
            do throws(JobError) { _ = try job([step]) } catch { return error.message }
        }
        return nil
    }

    /// Returns the reason why jobs cannot hold all of the given steps, or why the steps do not fit the schemas; `nil`
    /// if there is none.
    func refusal(of steps: [StepLine]) -> String? {
        for part in steps.ofJobs {
            do throws(JobError) { _ = try compiled(part) } catch { return error.message }
        }
        return nil
    }

    private func job(_ steps: [StepLine]) throws(JobError) -> Job {
        let list = steps.map { "  - \($0.text)\n" }.joined()
        let text = "job: plan\ncollection: \(YAMLText.word("\(namespace)"))\nsteps:\n\(list)"
        return try JobFile.parse(text, path: "plan")
    }

    private func compiled(_ steps: [StepLine]) throws(JobError) -> CompiledJob {
        let job = try job(steps)
        return try CompiledJob(
            job, active: old.describing(namespace)?.narrowed(to: job),
            next: new.describing(namespace)?.narrowed(to: job))
    }

    /// Whether the step writes only to a field that the older schema does not describe, in an object that may have
    /// additional fields.
    private func isUnseen(_ step: StepLine, by root: SchemaNode) -> Bool {
        guard step.kind != "rename" else { return false }
        var node = root
        for name in step.target.namesOfJobPath {
            if name == FieldPath.each {
                guard let inner = node.inner else { return false }
                node = inner
            } else if let next = node.property(name) {
                node = next
            } else {
                guard !node.isDictionary, case .allowed = node.additionalProperties else { return false }
                return node.types.isEmpty || node.isObject
            }
        }
        return false
    }

    /// Whether the step fills a field inside list elements or dictionary values, and the older schema accepts the value
    /// but does not require the field.
    ///
    /// The field must have a single type, which the newer schema keeps. For links and partition keys, nothing can be
    /// proven, so the result is `false`.
    private func fillsOptional(_ step: StepLine, of collection: CollectionSchema) -> Bool {
        let names = step.target.namesOfJobPath
        guard step.kind == "default", names.contains(FieldPath.each), let value = step.filling,
            let next = new[namespace].flatMap({ self.node(at: step.target, in: $0.root) }),
            let linked, !linked.contain(names)
        else { return false }
        var node = collection.root
        for (index, name) in names.enumerated() {
            if name != FieldPath.each {
                let isObject = (node.types.isEmpty || node.isObject) && !node.isDictionary && !node.isGeoPoint
                guard isObject, node.constraints.propertyCount.maximum == nil else { return false }
            }
            guard let inner = name == FieldPath.each ? node.inner : node.property(name) else { return false }
            if index == names.count - 1, name == FieldPath.each || node.requires(name) { return false }
            node = inner
        }
        let types = node.withoutNull.types
        guard types.count == 1, types == next.withoutNull.types else { return false }
        return node.takes(value.fitted(to: types[0]) ?? value, in: collection.dialect)
    }

    /// Whether the step only removes elements, and the older schema requires no minimum number of them.
    private func onlyTakesElements(_ step: StepLine, of root: SchemaNode) -> Bool {
        guard ["dedupe", "drop-nulls"].contains(step.kind), let node = node(at: step.target, in: root) else {
            return false
        }
        return node.constraints.itemCount.minimum == nil && node.constraints.propertyCount.minimum == nil
    }
}

extension [StepLine] {
    /// The steps divided between jobs, because one job has at most `JobFile.maximumSteps` steps.
    fileprivate var ofJobs: [[StepLine]] {
        stride(from: 0, to: count, by: JobFile.maximumSteps).map { Array(self[$0...].prefix(JobFile.maximumSteps)) }
    }
}
