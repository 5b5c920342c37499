import BSON
import SchemaChange
import ServerSchema

extension CompiledJob {
    /// What is to be said before the start: first what the job is for.
    var notes: [String] {
        var notes = changes.map { change in
            let place = change.path.isRoot ? change.namespace.description : change.path.description
            return "active → next: \(change.code) \(place) "
                + "(server: \(change.server.rawValue), client: \(change.client.rawValue))"
        }
        for step in steps {
            if let convert = step.step.kind as? ConvertStep, convert.into == nil {
                notes.append(
                    "irreversible: \"\(convert.field)\" is converted in place, and this version keeps no journal to undo it"
                )
            }
        }
        if active == nil {
            notes.append("the job names no active schema: whether it harms documents that sync is not judged")
        } else if !countsHarm {
            notes.append(
                "the active schema is a validator, which has no limit: what comes not to fit it is not counted, and the "
                    + "server refuses it where the validator is strict")
        }
        return notes
    }
}
