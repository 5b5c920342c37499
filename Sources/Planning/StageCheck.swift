import BSON
import Backfill
import ServerSchema

/// Says which steps may run while the older schema is live, and proves it.
struct StageCheck {
    let old: ServerSchema
    let new: ServerSchema
    let namespace: Namespace

    /// Whether the steps leave every document syncing that syncs under the older schema.
    /// - Throws: ``JobError`` when the steps do not fit the schemas: a defect of the planner.
    func areHarmless(_ steps: [StepLine]) throws -> Bool {
        guard let collection = old[namespace] else { return true }
        let open = steps.filter { !isUnseen($0, by: collection.root) && !onlyTakesElements($0, of: collection.root) }
        return try open.isEmpty || compiled(open).isHarmless
    }

    /// The steps as a job, fitted to both schemas.
    private func compiled(_ steps: [StepLine]) throws -> CompiledJob {
        let list = steps.map { "  - \($0.text)\n" }.joined()
        let text = "job: plan\ncollection: \(YAMLText.word("\(namespace)"))\nsteps:\n\(list)"
        return try CompiledJob(JobFile.parse(text, path: "plan"), active: old, next: new)
    }

    /// Whether the step writes only where the older schema says nothing.
    private func isUnseen(_ step: StepLine, by root: SchemaNode) -> Bool {
        guard step.kind != "rename" else { return false }
        var node = root
        for name in step.target.split(separator: ".").map(String.init) {
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

    /// A list is the same list with fewer elements.
    private func onlyTakesElements(_ step: StepLine, of root: SchemaNode) -> Bool {
        guard ["dedupe", "drop-nulls"].contains(step.kind) else { return false }
        var node = root
        for name in step.target.split(separator: ".").map(String.init) {
            guard let next = name == FieldPath.each ? node.inner : node.property(name) else { return false }
            node = next
        }
        return node.constraints.minItems == nil && node.constraints.minProperties == nil
    }
}

extension StepLine {
    /// The field that the step writes.
    var target: String {
        text(of: "into") ?? text(of: "to").flatMap { kind == "convert" ? nil : $0 } ?? text(of: "field") ?? ""
    }
}
