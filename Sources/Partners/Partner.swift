package import BSON
package import Checking
package import Jobs
import LocatedYAML
import Mongo
package import ServerSchema
import Steps

/// A partner job, with its compiled steps and the schemas of both sides.
package struct Partner: Sendable {
    /// The job as its file defines it.
    package let job: PartnerJob
    /// The schema of each side; there is no entry for a side if the job names no schema for it.
    package let schemas: [PartnerSide: CompiledSchema]
    /// The internal ids of the sync engine's app; empty if the schemas do not name the app.
    package let appIDs: [String]
    private let forward: StepTransformation
    private let reverse: StepTransformation

    /// Adapts the steps of both directions to the schemas, and compiles them.
    /// - Throws: ``JobError`` when a schema lacks its side's collection, or when a step does not fit a schema.
    package init(
        _ job: PartnerJob, source: ServerSchema?, target: ServerSchema?, assuming assumptions: CheckOptions
    ) throws(JobError) {
        self.job = job
        var schemas: [PartnerSide: CompiledSchema] = [:]
        for (side, schema) in [(PartnerSide.source, source), (.target, target)] {
            guard let schema else { continue }
            guard let collection = Self.collection(of: schema, on: side, job) else {
                throw JobError(
                    "the schema of the \(side.rawValue) has no collection \(job.namespace(side))",
                    at: SourceLocation(file: job.path, line: 1, column: 1))
            }
            schemas[side] = CompiledSchema(collection, of: schema, options: assumptions)
        }
        self.schemas = schemas
        appIDs = [source?.appID, target?.appID].compactMap(\.self)
        forward = StepTransformation(try Self.compile(job, job.forward, from: .source, schema: target))
        reverse = StepTransformation(try Self.compile(job, job.reverse, from: .target, schema: source))
    }

    /// Compiles the steps from one side to the other.
    ///
    /// The constants in the steps get the types that the other side's schema declares.
    private static func compile(
        _ job: PartnerJob, _ steps: [Job.LocatedStep], from side: PartnerSide, schema: ServerSchema?
    ) throws(JobError) -> CompiledJob {
        let one = Job(
            name: job.name, namespace: job.namespace(side), steps: steps, limits: job.limits, path: job.path,
            text: job.text, collectionLocation: job.targetLocation)
        let renamed = schema.flatMap { schema -> ServerSchema? in
            guard let root = collection(of: schema, on: side.other, job)?.root else { return nil }
            var collection = CollectionSchema(namespace: job.namespace(side), root: root)
            collection.dialect = schema.dialect
            return ServerSchema(dialect: schema.dialect, collections: [collection])
        }
        return try CompiledJob(one, active: nil, next: renamed)
    }

    /// Returns a side's collection in a schema; `nil` if the schema lacks it.
    ///
    /// The schema of the partner may declare the collection under the name of the original. That name is used if the
    /// schema lacks the partner's own name.
    private static func collection(
        of schema: ServerSchema, on side: PartnerSide, _ job: PartnerJob
    ) -> CollectionSchema? {
        schema[job.namespace(side)] ?? (side == .target ? schema[job.source] : nil)
    }

    /// Returns the steps that compute the other side's document from a document of the given side.
    func steps(from side: PartnerSide) -> StepTransformation { side == .source ? forward : reverse }

    /// Returns the `_id` of a document's counterpart on the other side; `nil` if the `_id` cannot be converted.
    package func twin(of id: BSONValue, on side: PartnerSide) -> BSONValue? {
        job.id.map { $0.converted(id, from: side) } ?? id
    }

    /// Returns the key of a document's pair, which is the `_id` of the original; `nil` if the `_id` cannot be
    /// converted.
    func key(of id: BSONValue, on side: PartnerSide) -> IDKey? {
        side == .source ? IDKey(id) : twin(of: id, on: .target).map { IDKey($0) }
    }

    var stateName: String { Self.stateName(job.name) }

    /// Returns the name of a job's record in the state database.
    static func stateName(_ name: String) -> String { "partner \(name)" }
}
