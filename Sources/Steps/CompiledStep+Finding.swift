import BSON
package import Jobs

/// The findings of a step in a document, as expressions for the server.
extension CompiledStep {
    /// The reasons why the step skips a document, each with its condition.
    ///
    /// The last reason is that the sync translator of Device Sync has locked the document.
    package var reasons: [(reason: Reason, when: Expression)] {
        skipped + [(.locked, needs && !SyncLock.isFree)]
    }

    /// Whether the step applies to elements of an array or dictionary.
    ///
    /// In one document, some elements can need such a step, while the step skips other elements, each for its own
    /// reason. ``finding`` shows only one reason, and ``reasonCodes`` shows all of them.
    var isAboutElements: Bool { step.target.leadsIntoElements }

    /// An array with one number for each of ``reasons``: the reason's index plus 2 if the reason holds, and 0
    /// otherwise.
    var reasonCodes: Expression {
        let codes = reasons.enumerated().map { index, reason in
            Expression.choose(if: reason.when, then: .constant(.integer(index + 2)), else: .constant(0)).bson
        }
        return Expression(.array(of: codes))
    }

    /// The reasons why the step skips a document, in the order of ``reasons``.
    var reasonNames: [Reason] { skipReasons + [.locked] }

    /// The size in bytes of the step's stages in a survey that evaluates the step twice: before and after the job.
    var surveyByteCount: Int {
        let asked = [finding] + (isAboutElements ? [reasonCodes] : [])
        return 2 * asked.reduce(stage.bytes.count) { $0 + $1.bson.byteCount }
    }

    /// The finding of the step in a document, as a number: 0 for nothing, and 1 if the document needs the step.
    ///
    /// A greater number means that the step skips the document. The number is then 2 plus the index of the first of
    /// ``reasons`` that holds.
    var finding: Expression {
        var branches: [BSONValue] = [["case": (needs && SyncLock.isFree).bson, "then": 1]]
        let (found, obstacles) = (reasons, obstacles)
        if found.count > obstacles.count + 1 {
            // The exact reasons are evaluated only for a document that the step skips.
            let isSkipped = Expression.any(obstacles.map(\.when) + found.suffix(1).map(\.when))
            branches.append(["case": (!isSkipped).bson, "then": 0])
        }
        for (index, reason) in found.enumerated() {
            branches.append(["case": reason.when.bson, "then": .integer(index + 2)])
        }
        return Expression(["$switch": ["branches": .array(of: branches), "default": 0]])
    }
}
