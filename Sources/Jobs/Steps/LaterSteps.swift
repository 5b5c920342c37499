package import BSON

/// The later steps of a job that change what a step writes to another field.
///
/// After a run, such a target holds what the later steps make of the step's value. The step must neither report that as
/// a conflict nor write its own value again.
struct LaterSteps: Hashable, Sendable {
    private let steps: [Step]

    /// Selects the steps of `later` that change one of the targets, as far as an expression states what they do.
    init(changing targets: [FieldPath] = [], among later: [Step] = []) {
        steps = later.flatMap { step in step.kind.parts.map(step.with) }.filter { step in
            targets.contains { step.changes($0) && step.isStated(for: $0) }
        }
    }

    /// Returns the value that the field `target` has after the later steps if it holds `value` before them.
    func value(of target: FieldPath, holding value: Expression) -> Expression {
        guard !steps.isEmpty else { return value }
        let result = steps.reversed().reduce(Expression.field(target)) { next, step in
            let body = step.kind.body()
            let conditions = [step.condition].compactMap(\.self) + step.targets.map(\.isReachable) + [body.wanted]
            return .let(
                ["isWanted": .every(conditions)],
                in: written(body.writes(to: step.target), if: .variable("isWanted"), then: next))
        }
        return written([(target, value)], if: nil, then: result)
    }

    /// Returns whether the later steps make exactly the same of two values of the field `target`; `nil` if no later
    /// step changes it.
    ///
    /// If so, the document after the job does not depend on which of the two the step leaves there. This includes a
    /// target that already holds what the later steps make of the step's value.
    func makesTheSame(of one: Expression, _ other: Expression, in target: FieldPath) -> Expression? {
        steps.isEmpty ? nil : .same(value(of: target, holding: one), value(of: target, holding: other))
    }

    /// Returns the value of `next` for an object in which the given fields have new values.
    ///
    /// The object has only the fields that the steps read, because the server would alter other fields of the document,
    /// such as two fields of one name.
    private func written(
        _ writes: [(path: FieldPath, value: Expression)], if condition: Expression?, then next: Expression
    ) -> Expression {
        let changed = Assignment(writes: writes.map { ($0.path.local, $0.value) }).fields
        let names = Set(steps.flatMap(\.namesRead) + changed.map(\.name)).sorted()
        let fields = names.map { name in
            let kept = Expression.field(FieldPath(trusted: [name]))
            let new = changed.first { $0.name == name }?.value ?? kept
            return (name, (condition.map { .choose(if: $0, then: new, else: kept) } ?? new).bson)
        }
        return .let(["CURRENT": Expression(.object(BSONDocument(fields)))], in: next)
    }

    /// Returns the steps with `$now` and `$$NOW` replaced by the time of the job's start.
    func resolved(at now: Int64) -> LaterSteps { LaterSteps(steps: steps.map { $0.resolved(at: now) }) }

    private init(steps: [Step]) { self.steps = steps }
}

extension Step {
    /// Whether the step writes the field, a field inside it, or an object that contains it.
    package func changes(_ field: FieldPath) -> Bool { kind.touched.contains(where: field.overlaps) }

    /// Whether an expression states what the step makes of a value in the field `target`.
    ///
    /// None does if the client computes the step. An expression inside an element cannot read the condition, which is
    /// about the whole document.
    package func isStated(for target: FieldPath) -> Bool {
        kind.clientComputation == nil && kind.removed.isEmpty && self.target.elementPath == target.elementPath
            && (condition == nil || !target.leadsIntoElements)
    }

    /// The names of the fields that the step reads or writes: at the top level of the document, or of the element.
    fileprivate var namesRead: [String] {
        let paths = target.leadsIntoElements ? targets + sources : targets + sources + readsInside
        return paths.map(\.local.topLevel)
    }
}
