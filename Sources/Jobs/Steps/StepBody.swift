import BSON

/// What a step finds in a document and writes to its target; the parents of target and source are looked after by
/// ``CompiledStep``.
package struct StepBody {
    /// Whether the document lacks the step, and the step can do it.
    var wanted: Expression
    /// What the target becomes where the step is wanted.
    package var value: Expression
    /// What further targets become; where a target has nothing to become, it says so by the value that it holds.
    var also: [(path: FieldPath, value: Expression)] = []
    /// Whether the step has anything to do with the document at all.
    var isConcerned = Expression.constant(true)
    /// Why a document that the step is about is left alone; no two hold for one document, nor one beside ``wanted``.
    var conflicts: [(reason: CompiledStep.Reason, when: Expression)] = []

    /// All that is written where the step is wanted.
    func writes(to target: FieldPath) -> [(path: FieldPath, value: Expression)] { [(target, value)] + also }
}
