import ServerSchema
import Yams

/// A node of a job file with its place, read with errors that name it.
struct JobNode {
    let node: Node
    let file: String

    var location: SourceLocation {
        SourceLocation(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    func error(_ message: String) -> JobError { JobError(message, at: location) }

    /// The members of a mapping; every key has to be one of `allowed`.
    func members(of what: String, allowed: [String]) throws(JobError) -> JobMembers {
        guard case .mapping(let mapping) = node else { throw error("\(what) must be a mapping") }
        var members: [String: JobNode] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            guard allowed.contains(name) else {
                let hint = Spelling.hint(for: name, among: allowed).map { " (\($0))" } ?? ""
                throw JobNode(node: key, file: file).error("\(what) has no key \"\(name)\"\(hint)")
            }
            members[name] = JobNode(node: value, file: file)
        }
        return JobMembers(what: what, members: members, location: location)
    }

    /// The elements of a sequence that is not empty.
    func elements(of what: String) throws(JobError) -> [JobNode] {
        guard case .sequence(let sequence) = node, !sequence.isEmpty else {
            throw error("\(what) must be a list with at least one entry")
        }
        return sequence.map { JobNode(node: $0, file: file) }
    }

    /// A scalar's text as it stands in the file.
    func text(of what: String) throws(JobError) -> String {
        guard let scalar = node.scalar, !scalar.string.isEmpty else { throw error("\(what) must be a text") }
        return scalar.string
    }

    func integer(of what: String, atLeast minimum: Int) throws(JobError) -> Int {
        guard let number = node.scalar.flatMap({ Int($0.string) }), number >= minimum else {
            throw error("\(what) must be a whole number of at least \(minimum)")
        }
        return number
    }
}

/// The members of one mapping of a job file.
struct JobMembers {
    let what: String
    let members: [String: JobNode]
    let location: SourceLocation

    subscript(name: String) -> JobNode? { members[name] }

    func required(_ name: String) throws(JobError) -> JobNode {
        guard let member = members[name] else { throw JobError("\(what) needs \"\(name)\"", at: location) }
        return member
    }
}
