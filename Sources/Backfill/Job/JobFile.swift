import BSON
import ServerSchema
import Yams

/// Reads job files.
package enum JobFile {
    /// Reads the job file at `path`.
    /// - Throws: ``JobError`` with line and column for whatever is not as the format says.
    package static func read(at path: String) throws(JobError) -> Job {
        try parse(try text(at: path), path: path)
    }

    /// Reads a job file's text; `path` is for messages, and what its schema paths are relative to.
    package static func parse(_ text: String, path: String) throws(JobError) -> Job {
        let root = JobNode(node: try compose(text, path: path), file: path)
        let top = try root.members(of: "a job", allowed: ["job", "collection", "schema", "steps", "limits"])
        let nameNode = try top.required("job")
        let name = try nameNode.text(of: "\"job\"")
        guard name.utf8.allSatisfy(isNameByte), name.utf8.count <= 100 else {
            throw nameNode.error("a job's name consists of at most 100 letters, digits, '-', '_' and '.'")
        }
        let collectionNode = try top.required("collection")
        guard let namespace = Namespace(try collectionNode.text(of: "\"collection\"")) else {
            throw collectionNode.error("\"collection\" must be DATABASE.COLLECTION")
        }
        var steps: [Job.LocatedStep] = []
        for node in try top.required("steps").elements(of: "\"steps\"") {
            // The server takes a thousand stages in a pipeline; the survey has four for each step.
            guard steps.count < 100 else { throw node.error("a job has at most 100 steps: make a second job") }
            steps.append(try JobSteps.step(node))
        }
        let schema = try top["schema"]?.members(of: "\"schema\"", allowed: ["active", "next"])
        return Job(
            name: name, namespace: namespace,
            activeSchema: try schema?["active"]?.text(of: "\"active\""),
            nextSchema: try schema?["next"]?.text(of: "\"next\""),
            steps: steps, limits: try JobLimits.read(top["limits"]), path: path, text: text)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func text(at path: String) throws(JobError) -> String {
        do throws(SchemaError) { return try SourceFile.text(of: path) } catch { throw JobError(error.description) }
    }

    private static func compose(_ text: String, path: String) throws(JobError) -> Node {
        func failure(_ problem: String, _ mark: Mark?) -> JobError {
            JobError(problem, at: SourceLocation(file: path, line: mark?.line ?? 1, column: mark?.column ?? 1))
        }
        do {
            guard let node = try Yams.compose(yaml: text) else { throw failure("the job file is empty", nil) }
            return node
        } catch let error as JobError {
            throw error
        } catch let error as YamlError {
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
                throw failure("not YAML: \(problem)", mark)
            case .composer(let context, let problem, let mark, _):
                throw failure("not YAML: " + (context.map { "\($0.text), " } ?? "") + problem, mark)
            case .duplicatedKeysInMapping(let duplicates, let context):
                throw failure("key given twice: \(duplicates.joined(separator: ", "))", context.mark)
            default: throw failure("not YAML: \(error)", nil)
            }
        } catch {
            throw failure("not YAML: \(error)", nil)
        }
    }
}
