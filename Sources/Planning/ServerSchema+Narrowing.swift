import BSON
import Backfill
import Jobs
import ServerSchema

extension ServerSchema {
    /// What the schema says of the fields that a job's steps name: all that decides whether they fit it, and whether they
    /// can do harm.
    ///
    /// To look at a whole schema for each of many steps would take the square of its size.
    func narrowed(to job: Job) -> ServerSchema {
        let kinds = job.steps.map(\.step.kind)
        // What a step makes in another collection is judged by that one's schema.
        guard kinds.allSatisfy(\.namespaces.isEmpty), let collection = self[job.namespace] else { return self }
        let named = kinds.flatMap { $0.touched + $0.sources + $0.looksInto }.map { $0.components[0] }
        // Without any property it would be a dictionary.
        let names = Set(named + ["_id"] + collection.root.properties.prefix(1).map(\.name)).sorted()
        var narrow = self
        (narrow.neighbours, narrow.sources, narrow.collections) = ([], [], [collection])
        narrow.collections[0].root.properties = names.compactMap { name in
            collection.root.property(name).map { SchemaNode.Property(name: name, node: $0) }
        }
        narrow.collections[0].root.required = names.filter(collection.root.requires)
        return narrow
    }
}
