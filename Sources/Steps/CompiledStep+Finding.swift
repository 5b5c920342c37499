import BSON
package import Jobs

/// What a step finds in a document, as expressions for the server.
extension CompiledStep {
    /// The reasons why the step skips a document, each with its condition; the last one is that the document is locked.
    package var reasons: [(reason: Reason, when: Expression)] {
        skipped + [(.locked, needs && !SyncLock.isFree)]
    }

    /// Whether the step applies to elements of an array or dictionary; then a document can need the step for some
    /// elements, while others are skipped, each for its own reason.
    var isAboutElements: Bool { step.target.leadsIntoElements }

    /// An array with the numbers of all of ``reasons`` that hold, counted from 2, and 0 for each other reason.
    var reasonCodes: Expression {
        let codes = reasons.enumerated().map { index, reason in
            Expression.choose(if: reason.when, then: .constant(.integer(index + 2)), else: .constant(0)).bson
        }
        return Expression(.array(of: codes))
    }

    /// The reasons why the step skips a document, in the order of ``reasons``.
    var reasonNames: [Reason] { skipReasons + [.locked] }

    /// The size in bytes of the step's stages in a survey, which evaluates the step before the job and again after it.
    var surveyByteCount: Int {
        let asked = [finding] + (isAboutElements ? [reasonCodes] : [])
        return 2 * asked.reduce(stage.bytes.count) { $0 + $1.bson.byteCount }
    }

    /// The expression for the step's finding in a document, as a number: 0 for nothing, 1 if the document needs the
    /// step, and from 2 on the first of ``reasons`` that holds.
    var finding: Expression {
        var branches: [BSONValue] = [["case": (needs && SyncLock.isFree).bson, "then": 1]]
        for (index, reason) in reasons.enumerated() {
            branches.append(["case": reason.when.bson, "then": .integer(index + 2)])
        }
        return Expression(["$switch": ["branches": .array(of: branches), "default": 0]])
    }
}
