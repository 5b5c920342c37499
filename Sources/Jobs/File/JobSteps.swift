package import LocatedYAML
import ServerSchema

/// Reads the entries of a job's `steps`.
package enum JobSteps {
    /// - Parameter condition: which documents the job is for.
    /// - Throws: ``JobError`` with line and column.
    package static func step(_ node: YAMLNode, where condition: Expression? = nil) throws(JobError) -> Job.LocatedStep {
        let keys = Step.kinds.map { $0.key }
        let entry = try node.members(of: "a step", allowed: keys + ["where"])
        let kinds = entry.members.filter { $0.key != "where" }
        guard kinds.count == 1, let (key, body) = kinds.first,
            let kind = Step.kinds.first(where: { $0.key == key })
        else {
            throw node.error("a step has exactly one kind, of \(keys.joined(separator: ", "))")
        }
        let own = try entry["where"].map { (node) throws(JobError) in
            try ExpressionLiteral.condition(node)
        }
        let conditions = [condition, own].compactMap(\.self)
        return Job.LocatedStep(
            step: Step(try kind.read(body), where: conditions.isEmpty ? nil : .all(conditions)), location: node.location
        )
    }
}
