package import BSON
package import Checking
import Foundation
import ServerSchema

/// The JSON Schemas of job files, `jobs/job.schema.json` and `jobs/partner.schema.json`, which editors use.
package enum JobSchema {
    /// A YAML mapping in a job file, such as `limits`, with the keys that the JSON Schema allows in the mapping.
    package struct Place {
        /// The name of the mapping in messages.
        package var name: String
        /// The keys that the schema allows in the mapping.
        package var keys: [String]
        /// The text of a job in which the mapping has only an unknown key.
        package var jobWithUnknownKey: String
    }

    /// Reads the JSON Schema of job files.
    /// - Parameter kind: `job` for jobs, `partner` for partner jobs.
    package static func document(of kind: String = "job") throws -> BSONDocument {
        try BSONDocument(
            extendedJSON: String(contentsOfFile: "\(ReadyJobs.folder)/\(kind).schema.json", encoding: .utf8))
    }

    /// Returns the mappings of a job file that have fixed keys, such as the job, its `limits`, and each kind of step.
    package static func places() throws -> [Place] {
        let job = try document()
        let head = "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\n"
        var places = [
            Place(name: "a job", keys: keys(of: job), jobWithUnknownKey: "\(unknown): 1"),
            Place(name: "schema", keys: keys(of: job, "schema"), jobWithUnknownKey: "\(head)schema: {\(unknown): 1}"),
            Place(
                name: "throttle", keys: keys(of: job, "throttle"),
                jobWithUnknownKey: "\(head)throttle: {\(unknown): 1}"),
            Place(name: "limits", keys: keys(of: job, "limits"), jobWithUnknownKey: "\(head)limits: {\(unknown): 1}"),
        ]
        for limit in keys(of: job, "limits") where !keys(of: job, "limits", limit).isEmpty {
            places.append(
                Place(
                    name: limit, keys: keys(of: job, "limits", limit),
                    jobWithUnknownKey: "\(head)limits: {\(limit): {\(unknown): 1}}"))
        }
        let step = job["properties"]?.document?["steps"]?.document?["items"]?.document ?? [:]
        let start = "job: a\ncollection: b.c\nsteps:"
        places.append(Place(name: "a step", keys: keys(of: step), jobWithUnknownKey: "\(start) [{\(unknown): 1}]"))
        for kind in keys(of: step) where !["where", "review", "once", "cases"].contains(kind) {
            places.append(
                Place(
                    name: kind, keys: keys(of: step, kind),
                    jobWithUnknownKey: "\(start) [{\(kind): {\(unknown): 1}}]"))
        }
        return places
    }

    /// A key that resembles no known key, so that the error proposes none.
    private static let unknown = "qqqqqqqqqq"

    /// Returns the properties of a schema, or of a nested schema at a path of property names.
    private static func keys(of schema: BSONDocument, _ path: String...) -> [String] {
        var schema = schema
        for name in path { schema = schema["properties"]?.document?[name]?.document ?? [:] }
        if let choices = schema["anyOf"]?.document?.values.compactMap(\.document) {
            schema = choices.first { $0["properties"] != nil } ?? [:]
        }
        return ((try? schema["properties"]?.document?.elements()) ?? []).map(\.name)
    }

    /// Compiles the schema for the checker, without the annotations that MongoDB's dialect refuses.
    package static func compiled(_ kind: String = "job") throws -> CompiledSchema {
        let schema = try CollectionSchema(
            jsonSchema: stripped(try inlined(try document(of: kind))),
            namespace: Namespace(database: "jobs", collection: "file"))
        return CompiledSchema(schema)
    }

    /// Returns the schema with each `$ref` in its properties replaced by the definition that it refers to.
    package static func inlined(_ schema: BSONDocument) throws -> BSONDocument {
        let definitions = try schema["definitions"]?.document?.elements() ?? []
        let properties = try schema["properties"]?.document?.elements() ?? []
        let inlined = properties.map { name, value -> (String, BSONValue) in
            let reference = value.document?["$ref"]?.text
            return (name, definitions.first { "#/definitions/\($0.name)" == reference }?.value ?? value)
        }
        return BSONDocument(
            try schema.elements().filter { $0.name != "definitions" }.map { name, value in
                name == "properties" ? (name, .object(BSONDocument(inlined))) : (name, value)
            })
    }

    private static func stripped(_ schema: BSONDocument) throws -> BSONDocument {
        let annotations: Set = ["$schema", "default", "description", "title"]
        return BSONDocument(
            try schema.elements().filter { !annotations.contains($0.name) }.map { name, value in
                switch (name, value) {
                case ("properties", .object(let members)):
                    (name, .object(BSONDocument(try members.elements().map { ($0.name, try inner($0.value)) })))
                case ("items", _), ("additionalProperties", .object): (name, try inner(value))
                case ("anyOf", .array(let choices)): (name, .array(of: try choices.values.map(inner)))
                default: (name, value)
                }
            })
    }

    private static func inner(_ value: BSONValue) throws -> BSONValue {
        guard case .object(let schema) = value else { return value }
        return .object(try stripped(schema))
    }
}
