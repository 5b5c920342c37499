package import BSON
package import Enforcing
import JobState

package enum EnforceWords {
    /// Returns a command for the collection's database, in mongosh syntax.
    package static func command(_ command: BSONDocument, of namespace: Namespace) -> String {
        let fields = ((try? command.elements()) ?? []).map { "\($0.name): \($0.value.shellText)" }
        return "db.getSiblingDB(\(namespace.database.quotedAsJSON)).runCommand({ \(fields.joined(separator: ", ")) })"
    }

    /// Returns the result of a run of `enforce`, in one sentence.
    static func headline(_ report: EnforcementReport) -> String {
        let name = "\(report.namespace)"
        let misfits = report.notFitting.map(misfits) ?? ""
        switch report.outcome {
        case .status where report.stage == .before && report.toCome.isEmpty:
            return "\(name) is unchanged: no enforcement is in progress."
        case .status: return "\(name) is \(place(report.stage))."
        case .aborted: return "\(name) is restored: \(Enforcement.words(of: report.now))."
        case .dryRun:
            return "Dry run, nothing was written: \(name) is \(place(report.stage)); \(misfits)."
        case .done: return "\(name) is \(place(report.stage)): \(misfits)."
        case .notFitting where report.stage < .error:
            return "\(misfits): \(name) stays \(place(report.stage)), and the server refuses nothing. "
                + "Fix \(report.notFitting == 1 ? "it" : "them") (shipshape plan SCHEMA), then run it again."
        case .notFitting:
            let (was, those) = report.notFitting == 1 ? ("it was", "it") : ("they were", "them")
            return "\(misfits), though \(name) is \(place(report.stage)): \(was) written before, and the server "
                + "refuses updates to \(those)."
        }
    }

    /// Returns a clause with the number of documents that do not fit the validator.
    package static func misfits(_ count: Int) -> String { "\(count.documents) \(count == 1 ? "does" : "do") not fit" }

    /// Returns the stage that a collection has reached, in words.
    package static func place(_ stage: EnforcementStage) -> String {
        switch stage {
        case .before: "without the new validator"
        case .warn: "at warn"
        case .error: "at error"
        case .prepared: "at error, prepared for constraint"
        case .constraint: "at constraint"
        }
    }
}
