import BSON
import Enforcing
import JobState
import Planning

/// What the forms of a plan have in common.
enum PlanWords {
    static let validatorHead =
        "The validator, by shipshape enforce, or in mongosh: the first command before the job, the second after it."

    /// The order of work of a breaking change without a partner collection.
    /// - Parameter jobs: what is done meanwhile.
    static func termination(doing jobs: String) -> String {
        "stop old clients or let them upload, terminate sync, wait about ten minutes, remove the old schema, \(jobs), "
            + "save the new schema, enable sync again, check, and let the clients reset."
    }

    /// The commands that set a validator: it warns first, and refuses then.
    static func commands(_ validator: BSONDocument, of namespace: Namespace) -> [String] {
        let road = EnforcementRoad(namespace, to: ["$jsonSchema": .object(validator)], from: Validation())
        return [EnforcementStage.warn, .error].compactMap { road.command(to: $0) }.map {
            EnforceWords.command($0, of: namespace)
        }
    }
}

extension Stage {
    /// When the job may run.
    var words: String {
        switch self {
        case .beforeDeploy: "before the deploy, and again after it"
        case .afterDeploy: "only after the deploy"
        case .whileWarning: "while the new validator warns"
        }
    }
}
