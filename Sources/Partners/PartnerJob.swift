package import BSON
package import Jobs
import LocatedYAML
package import ServerSchema
import Yams

/// Two collections that hold the same data in two shapes, as a job file defines them.
package struct PartnerJob: Sendable {
    /// The job's name, which identifies it in the state database.
    package var name: String
    /// The original collection.
    package var source: Namespace
    package var target: Namespace
    /// The conversion of the `_id`s between the two collections; `nil` if a document has the same `_id` in both.
    package var id: IDConversion?
    /// The paths of the two collections' schema files, relative to the job file; `nil` for a collection without one.
    package var schemas: (source: String?, target: String?)
    /// The steps that compute a partner's document from an original.
    package var forward: [Job.LocatedStep]
    /// The steps that compute an original from a partner's document.
    package var reverse: [Job.LocatedStep]
    /// The top-level fields that exist in one of the two collections only.
    ///
    /// Such a field is never copied to the other collection. A document that the mirror writes keeps the fields that
    /// only its own collection has.
    package var own: (source: [String], target: [String])
    /// Whether the mirror deletes all documents of one collection when the other collection is dropped.
    ///
    /// If `false`, the mirror then stops.
    package var followsDrops: Bool
    /// The limits in the job file, such as the concurrency and the limits of the throttle.
    package var limits: Job.Limits
    /// The file's path, as the user wrote it.
    package var path: String
    /// The file's text.
    ///
    /// The text must not change after the copy of the original to the partner has begun.
    package var text: String
    /// The position of the `target` value in the job file, for error messages.
    package var targetLocation: SourceLocation

    package func namespace(_ side: PartnerSide) -> Namespace { side == .source ? source : target }

    /// Returns the top-level fields that exist on the given side only.
    package func own(_ side: PartnerSide) -> [String] { side == .source ? own.source : own.target }
}

/// One of the two collections of a partner job.
package enum PartnerSide: String, Sendable, CaseIterable {
    /// The original, which existed first.
    case source
    /// The partner, which was created from the original.
    case target

    package var other: PartnerSide { self == .source ? .target : .source }
}

extension PartnerJob {
    static let keys = [
        "version", "partner", "source", "target", "id", "schema", "forward", "reverse", "only", "drops",
        "limits",
    ]

    /// Reads the job file at `path`.
    /// - Throws: ``JobError`` when the file cannot be read, or, with line and column, when it breaks the format.
    package static func read(at path: String) throws(JobError) -> PartnerJob {
        try parse(try YAMLFile.text(at: path, limit: JobFile.largestSize), path: path)
    }

    /// Whether the file at `path` has the key of a partner job; `false` for a file that cannot be read.
    package static func isPartnerJob(at path: String) -> Bool {
        guard let text = try? YAMLFile.text(at: path, limit: JobFile.largestSize),
            let root = try? YAMLFile.rootIfAny(of: text, path: path)
        else { return false }
        return root.hasMember("partner")
    }

    /// Reads the text of a job file.
    /// - Parameter path: the file's path, for messages; the schema paths in the text are relative to it.
    package static func parse(_ text: String, path: String) throws(JobError) -> PartnerJob {
        let top = try YAMLFile.root(of: text, path: path).members(of: "a partner job", allowed: keys)
        if let version = top["version"], version.node.scalar?.string != "1" {
            throw version.error("\"version\" must be 1: this program knows no other version of the file's format")
        }
        let name = try JobFile.name(try top.required("partner"), "partner")
        let source = try top.required("source").namespace("source")
        let targetNode = try top.required("target")
        let target = try targetNode.namespace("target")
        guard source != target else {
            throw targetNode.error("\"target\" must be another collection than \"source\"")
        }
        let schema = try top["schema"]?.members(of: "\"schema\"", allowed: ["source", "target"])
        let own = try top["only"]?.members(of: "\"only\"", allowed: ["source", "target"])
        let only = (source: try names(own?["source"]), target: try names(own?["target"]))
        return PartnerJob(
            name: name, source: source, target: target,
            id: try top["id"].map { (node) throws(JobError) in try IDConversion(node) },
            schemas: (
                try schema?["source"]?.text(of: "\"source\""), try schema?["target"]?.text(of: "\"target\"")
            ), forward: try steps(top["forward"], "forward", fillingAlone: only.target),
            reverse: try steps(top["reverse"], "reverse", fillingAlone: only.source), own: only,
            followsDrops: try choice(top["drops"], "drops", ["stop": false, "follow": true]) ?? false,
            limits: try Job.Limits.read(top["limits"]), path: path, text: text, targetLocation: targetNode.location)
    }

    /// Reads the steps of one direction from a job file; empty if the file has none.
    /// - Parameter own: the fields that exist only on the side of the resulting documents. Only their values may
    ///   depend on the current time.
    private static func steps(
        _ node: YAMLNode?, _ key: String, fillingAlone own: [String]
    ) throws(JobError) -> [Job.LocatedStep] {
        guard let node, !node.isEmptyList else { return [] }
        var steps: [Job.LocatedStep] = []
        for entry in try node.elements(of: "\"\(key)\"") {
            for step in try JobSteps.steps(entry) {
                if let reason = objection(to: step.step, fillingAlone: own) { throw entry.error(reason) }
                guard step.review == nil else {
                    throw entry.error("only a job for backfill has steps with a \"review\"")
                }
                steps.append(step)
            }
            guard steps.count <= JobFile.maximumSteps else {
                throw entry.error("\"\(key)\" has at most \(JobFile.maximumSteps) steps")
            }
        }
        return steps
    }

    /// Returns the reason why a partner job cannot contain a step, as a clause for an error message; `nil` if it can.
    ///
    /// A step is refused if it embeds or creates documents of another collection, if it has `once` or `refresh`, or if
    /// it writes the current time to a field that both sides have.
    private static func objection(to step: Step, fillingAlone own: [String]) -> String? {
        if step.anyDepth != nil { return "only a job for backfill finds fields at any depth: name each field" }
        switch step.kind {
        case let embed as EmbedStep:
            return
                "a partner's steps make one document from one; \"embed\" reads documents of \(embed.from), and a later "
                + "change of those would not be carried over"
        case let extract as ExtractStep:
            return
                "a partner's steps make one document from one; \"extract\" makes others in \(extract.to), which no "
                + "mirror follows and no step leads back from"
        case _ where step.kind.marker != nil:
            return
                "\"once\" marks a step as done: leave it out, because a partner's steps never run over their own result"
        case _ where step.kind.refresh != nil:
            return
                "\"refresh\" needs a journal, and a partner has none: leave it out, because a partner's document is "
                + "always made from its original again"
        case _ where step.resolved(at: 0) != step && !own.contains(step.target.topLevel):
            return "the time differs in every run, so the sides would never agree: write a date, or name "
                + "\"\(step.target.topLevel)\" in \"only\", as a field that is filled when its document is inserted "
                + "and then stays"
        default: return nil
        }
    }

    private static func names(_ node: YAMLNode?) throws(JobError) -> [String] {
        guard let node else { return [] }
        var names: [String] = []
        for entry in try node.elements(of: "\"only\"") {
            let name = try entry.text(of: "a field of \"only\"")
            guard name != "_id", !name.contains("."), !name.hasPrefix("$") else {
                throw entry.error("a field of \"only\" is a field of the document itself, and not its _id")
            }
            names.append(name)
        }
        return names
    }

    private static func choice<Value>(
        _ node: YAMLNode?, _ key: String, _ values: KeyValuePairs<String, Value>
    ) throws(JobError) -> Value? {
        guard let node else { return nil }
        guard let value = values.first(where: { $0.key == node.node.scalar?.string }) else {
            throw node.error("\"\(key)\" must be \(values.map(\.key).joined(separator: " or "))")
        }
        return value.value
    }
}
