import BSON
import Jobs
import ServerSchema

extension CompiledJob {
    /// What stands against the job in the documents, as an operator reads it; of a step that no document needs, nothing
    /// does.
    func obstacles(found survey: Survey.Result) -> [String] {
        zip(steps, survey.before).flatMap { step, count in
            count.needing == 0 ? [] : (step.transform?.obstacles ?? []).map { $0.message(of: step) }
        }
    }
}

extension ClientObstacle {
    fileprivate func message(of step: CompiledStep) -> String {
        let ids = samples.compactMap { try? BSONDocument([("_id", $0)]).extendedJSON(.relaxed) }
        let place = step.location.map { "\($0.file):\($0.line):\($0.column): " } ?? ""
        return
            "\(place)\(step.step): \(text) \(count) \(count == 1 ? "document" : "documents") of \(namespace), such as "
            + "\(ids.joined(separator: ", ")); \(remedy)"
    }
}
