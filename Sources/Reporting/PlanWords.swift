import BSON
import Checking
import Enforcing
import JobState
import Planning

/// Texts that a plan has in every output format.
enum PlanWords {
    /// Returns a finding of a check as one line.
    static func sentence(on group: ViolationGroup) -> String {
        let violation = group.violation
        return "\(violation.rule): \(violation.path), \(group.count.documents), expected \(violation.expected), found "
            + violation.found
    }

    static let validatorHead =
        "Set the validator with shipshape enforce, or in mongosh: the first command before the job, the second after."

    /// Returns the steps, in order, that the operator takes for a breaking change without a partner collection.
    /// - Parameter jobs: the work to do while sync is terminated.
    static func termination(doing jobs: String) -> String {
        "stop old clients or let them upload, terminate sync, wait about ten minutes, remove the old schema, \(jobs), "
            + "save the new schema, enable sync again, check, and let the clients reset."
    }

    /// Returns the mongosh commands that set a validator: the first with the action `warn`, the second with `error`.
    static func commands(_ validator: BSONDocument, of namespace: Namespace) -> [String] {
        let path = EnforcementPath(namespace, to: ["$jsonSchema": .object(validator)], from: Validation())
        return [EnforcementStage.warn, .error].compactMap { path.command(to: $0) }.map {
            EnforceWords.command($0, of: namespace)
        }
    }
}

extension Stage {
    /// The time when a job of this stage may run, in words.
    var words: String {
        switch self {
        case .beforeDeploy: "before the deploy, and again after it"
        case .afterDeploy: "only after the deploy"
        case .whileWarning: "while the new validator warns"
        case .anyTime: "at any time"
        }
    }
}
