import BSON
import Checking
package import LocatedYAML
package import SchemaChange
import ServerSchema
import Yams

package enum JobFile {
    /// The largest number of steps of a job.
    ///
    /// The server accepts at most 1,000 stages in a pipeline. The survey, which counts the documents that need each
    /// step, has four stages for most steps and eight for a `rename`.
    package static var maximumSteps: Int { 100 }

    /// The largest size of a job file in bytes: 1 MiB.
    package static let largestSize = 1 << 20

    /// Reads the job file at `path`.
    /// - Throws: ``JobError`` if the file cannot be read or, with line and column, if it breaks the format.
    package static func read(at path: String) throws(JobError) -> Job {
        try parse(try YAMLFile.text(at: path, limit: largestSize), path: path)
    }

    /// Returns a job's text without comments, layout and reviews, so that texts can be compared by their content.
    package static func content(of text: String) -> String {
        YAMLFile.content(of: text, without: ["reviewed", "steps.review"])
    }

    /// Reads the file of a job for commands that control or undo the job, but do not run it.
    ///
    /// The file may contain what only an earlier version of the program accepted; see ``parse(past:path:)``.
    package static func read(past path: String) throws(JobError) -> Job {
        try parse(past: try YAMLFile.text(at: path, limit: largestSize), path: path)
    }

    /// Reads the text of a job file; `path` appears in messages, and the schema paths in the text are relative to it.
    package static func parse(_ text: String, path: String) throws(JobError) -> Job {
        if let draft = try draftError(of: text, path: path) { throw draft }
        let root = try YAMLFile.root(of: text, path: path)
        let top = try root.members(
            of: "a job",
            allowed: [
                "version", "job", "collection", "schema", "renames", "requires", "where", "steps", "reviewed", "limits",
                "throttle", "journal",
            ])
        try checkVersion(top["version"])
        let nameNode = try top.required("job")
        let name = try Self.name(nameNode, "job")
        guard !name.hasSuffix(Job.cleanupSuffix) else {
            throw nameNode.error(
                "a job's name cannot end in \(Job.cleanupSuffix): such names are for the clean-up of a job")
        }
        guard !CheckPart.isName(name) else {
            throw nameNode.error("a job's name cannot end like \"\(name)\": such names are for the parts of a job")
        }
        let collectionNode = try top.required("collection")
        let namespace = try collectionNode.namespace("collection")
        let condition = try top["where"].map { (node) throws(JobError) in
            try ExpressionLiteral.condition(node)
        }
        var steps: [Job.LocatedStep] = []
        for node in try top.required("steps").elements(of: "\"steps\"") {
            steps += try JobSteps.steps(node, where: condition)
            guard steps.count <= maximumSteps else {
                throw node.error("a job has at most \(maximumSteps) steps: make a second job")
            }
        }
        let keepsJournal = try top["journal"].map { node throws(JobError) in
            guard let keeps = JobLiteral.bool(node) else {
                throw node.error("\"journal\" must be true or false: without a journal the job cannot be undone")
            }
            return keeps
        }
        let schema = try top["schema"]?.members(of: "\"schema\"", allowed: ["active", "next"])
        var job = Job(
            name: name, namespace: namespace, steps: steps, limits: try Job.Limits.read(top["limits"]), path: path,
            text: text, collectionLocation: collectionNode.location)
        job.activeSchema = try schema?["active"]?.text(of: "\"active\"")
        job.nextSchema = try schema?["next"]?.text(of: "\"next\"")
        job.renames = try top["renames"].map(Rename.list) ?? []
        if let node = top["reviewed"] { job.isReviewed = try node.flag("reviewed") }
        if let requirement = top["requires"] {
            guard try requirement.text(of: "\"requires\"") == deployed else {
                throw requirement.error("\"requires\" must be \(deployed): a job can wait for nothing else")
            }
            job.requiresDeploy = true
        }
        job.veto = try top["throttle"].map { (node) throws(JobError) in try Veto.read(node) }
        job.keepsJournal = keepsJournal ?? true
        return job
    }

    /// The first words of the remark at the top of a draft.
    ///
    /// A draft is a job file in which every line is a comment, until a user decides on the steps.
    package static let draft = "A DRAFT:"

    /// Whether a text is the draft of a job, in which every line is a comment.
    package static func isDraft(_ text: String) -> Bool { (try? draftError(of: text, path: "")) != nil }

    /// Returns the error for a draft, in which every line is a comment; `nil` if the text is not a draft.
    ///
    /// The error says which lines to uncomment.
    private static func draftError(of text: String, path: String) throws(JobError) -> JobError? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0.hasPrefix("# job:") || $0.hasPrefix("#job:") }),
            lines.contains(where: { $0.hasPrefix("# steps:") || $0.hasPrefix("#steps:") }),
            try YAMLFile.rootIfAny(of: text, path: path) == nil
        else { return nil }
        return JobError(
            "the file is a draft: all its steps are comments; decide on them, and remove one # from this line and from "
                + "each line below it that begins with one",
            at: SourceLocation(file: path, line: first + 1, column: 1))
    }

    /// Whether the job being read has run before.
    ///
    /// An earlier version of the program may have run it, and may have accepted operators, variables and collections
    /// that this version refuses.
    @TaskLocal static var isOfThePast = false

    /// Reads the text of a job that has run before.
    ///
    /// The result is used to identify the job, to undo it or to clean up after it, but never to run it. Operators,
    /// variables and collections are accepted even if they are no longer allowed.
    package static func parse(past text: String, path: String) throws(JobError) -> Job {
        let result = $isOfThePast.withValue(true) {
            Result { () throws(JobError) in try parse(text, path: path) }
        }
        return try result.get()
    }

    /// The value of `requires` in a job that must not run before its next schema is deployed.
    package static let deployed = "deployed"

    /// The version of the file format that this program reads; a file that states no version has this version.
    package static let version = 1

    private static func checkVersion(_ node: YAMLNode?) throws(JobError) {
        guard let node else { return }
        let scalar = node.node.scalar
        // With quotation marks, the version would be a text and not a number.
        if scalar?.string == "\(version)", scalar?.style == .plain { return }
        throw node.error("\"version\" must be \(version): this program knows no other version of the job file's format")
    }

    /// Reads a job's name.
    /// - Throws: ``JobError`` with line and column.
    package static func name(_ node: YAMLNode, _ key: String) throws(JobError) -> String {
        let name = try node.text(of: "\"\(key)\"")
        guard isName(name) else { throw node.error(nameRule) }
        return name
    }

    /// The rule for job names, as error messages state it.
    package static let nameRule = "a job's name consists of at most 100 letters, digits, '-', '_' and '.'"

    /// Whether a text is a valid job name.
    package static func isName(_ name: String) -> Bool { name.utf8.allSatisfy(isNameByte) && name.utf8.count <= 100 }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension Rename {
    /// Reads a list of renames, each as `OLD=NEW`.
    /// - Throws: ``JobError`` with line and column.
    package static func list(_ node: YAMLNode) throws(JobError) -> [Rename] {
        var renames: [Rename] = []
        for entry in node.isEmptyList ? [] : try node.elements(of: "\"renames\"") {
            let text = try entry.text(of: "a rename")
            do throws(RenameError) { renames.append(try Rename(text, at: entry.location)) } catch {
                throw entry.error(error.message)
            }
        }
        return renames
    }
}
