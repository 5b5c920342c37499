import LocatedYAML
import ServerSchema

/// Reads the entries of a job's `steps`.
enum JobSteps {
    static func step(_ node: YAMLNode) throws(JobError) -> Job.LocatedStep {
        let keys = Step.kinds.map { $0.key }
        let entry = try node.members(of: "a step", allowed: keys)
        guard entry.members.count == 1, let (key, body) = entry.members.first,
            let kind = Step.kinds.first(where: { $0.key == key })
        else {
            throw node.error("a step has exactly one kind, of \(keys.joined(separator: ", "))")
        }
        return Job.LocatedStep(step: Step(try kind.read(body)), location: node.location)
    }
}
