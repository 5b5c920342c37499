import BSON
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

extension YAMLNode {
    /// The path of a field that a step may write.
    func fieldPath(_ key: String) throws(JobError) -> FieldPath {
        let path: FieldPath
        do { path = try FieldPath(try text(of: "\"\(key)\"")) } catch let error as JobError {
            throw error
        } catch {
            throw self.error("\"\(key)\": \(error)")
        }
        guard path.components[0] != "_id" else {
            throw error("\"\(key)\" cannot be _id: a document's primary key never changes in place")
        }
        return path
    }

    /// Refuses a target inside the source, or the other way round: it would change what the step reads.
    func checkApart(_ from: FieldPath, _ to: FieldPath) throws(JobError) {
        let shared = min(from.components.count, to.components.count)
        guard from.components[..<shared] != to.components[..<shared] else {
            throw error("\"\(from)\" and \"\(to)\" overlap: the target must be another field")
        }
    }
}
