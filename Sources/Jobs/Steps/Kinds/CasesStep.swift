package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Changes one field by the first of several steps whose condition the document meets: `cases`.
///
/// All conditions are read on the document as it is before this step.
package struct CasesStep: StepKind {
    package static let key = "cases"

    /// The steps, each with its own condition; a step without one is the last.
    let cases: [Step]
    /// The field that marks a document as done; `nil` if the new value itself shows that the step is done.
    var once: FieldPath?

    private var kinds: [any StepKind] { cases.map(\.kind) }

    package var target: FieldPath { cases[0].target }
    package var sources: [FieldPath] { kinds.flatMap(\.sources) }
    package var readsInside: [FieldPath] { cases.flatMap(\.readsInside) }
    package var changesInPlace: Bool { true }
    package var marker: FieldPath? { once }
    package var removed: [FieldPath] { Array(kinds.flatMap(\.removed).prefix(1)) }
    package var isFreeForm: Bool { kinds.contains(where: \.isFreeForm) }
    package var operators: Set<String> { cases.reduce(into: []) { $0.formUnion($1.operators) } }
    package var refuses: Set<CompiledStep.Reason> { kinds.reduce(into: []) { $0.formUnion($1.refuses) } }
    // The result of one case may meet the condition of another one.
    package var mayBeNeededAgain: Bool { true }
    package var determinesOldValue: Bool { false }

    package var description: String {
        "the first case that holds of: " + kinds.map(\.description).joined(separator: "; ")
            + (once.map { ", once by \($0)" } ?? "")
    }

    package var loss: String? {
        let losses = kinds.compactMap(\.loss)
        return losses.isEmpty ? nil : losses.joined(separator: ", ")
    }

    package func resolved(at now: Int64) -> Self {
        CasesStep(cases: cases.map { $0.resolved(at: now) }, once: once)
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        var fitted: [Step] = []
        for step in cases { fitted.append(step.with(try step.kind.fitted(to: type, at: location))) }
        return CasesStep(cases: fitted, once: once)
    }

    package func followed(by later: [Step]) -> any StepKind {
        CasesStep(cases: cases.map { $0.with($0.kind.followed(by: later)) }, once: once)
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool { kinds.allSatisfy { $0.leavesSyncing(under: schema, declaring: target, assuming: assuming) } }

    /// Each step with the condition that it is the first one whose condition holds.
    private var chosen: [(applies: Expression, kind: any StepKind)] {
        var others: [Expression] = []
        return cases.map { step in
            let own = step.condition.map(inDocument)
            defer { others += [own].compactMap(\.self) }
            return (.all([own].compactMap(\.self) + others.map { !$0 }), step.kind)
        }
    }

    /// Returns the condition, which is about the whole document even if the field is in the elements of a list.
    private func inDocument(_ condition: Expression) -> Expression {
        target.leadsIntoElements ? .let(["CURRENT": .variable("ROOT")], in: condition) : condition
    }

    package func body() -> StepBody {
        let bodies = chosen.map { (applies: $0.applies, body: $0.kind.body()) }
        return StepBody(
            wanted: .any(bodies.map { $0.applies && $0.body.wanted }),
            value: bodies.reversed().reduce(.field(target)) { rest, next in
                .choose(if: next.applies, then: next.body.value, else: rest)
            },
            applies: .any(bodies.map { $0.applies && $0.body.applies }),
            conflicts: Self.merged(
                bodies.flatMap { applies, body in body.conflicts.map { ($0.reason, applies && $0.when) } }))
    }

    package var losses: [(reason: CompiledStep.Reason, when: Expression)] {
        Self.merged(
            chosen.flatMap { applies, kind in
                (kind.losses.isEmpty ? [(.noValue, .constant(true))] : kind.losses).map { ($0.0, applies && $0.1) }
            })
    }

    private static func merged(
        _ reasons: [(CompiledStep.Reason, Expression)]
    ) -> [(reason: CompiledStep.Reason, when: Expression)] {
        var merged: [(reason: CompiledStep.Reason, when: [Expression])] = []
        for (reason, when) in reasons {
            if let index = merged.firstIndex(where: { $0.reason == reason }) {
                merged[index].when.append(when)
            } else {
                merged.append((reason, [when]))
            }
        }
        return merged.map { ($0.reason, .any($0.when)) }
    }
}

extension CasesStep {
    package init(_ node: YAMLNode) throws(JobError) {
        var cases: [Step] = []
        for entry in try node.elements(of: "\"cases\"") {
            if let last = cases.last, last.condition == nil {
                throw entry.error("this case never applies: the one before it has no \"where\"")
            }
            for located in try JobSteps.steps(entry) {
                let kind = located.step.kind
                guard kind.clientComputation == nil, kind.marker == nil, kind.refresh == nil, kind.parts.count == 1,
                    kind.targets.count == 1, kind.removed.allSatisfy({ $0 == kind.target }), located.review == nil
                else {
                    throw entry.error(
                        "a case is a step that the server computes and that writes one field, without \"once\", "
                            + "\"refresh\", \"remove\" and \"review\"")
                }
                guard located.step.anyDepth == nil else {
                    throw entry.error("all cases write one field: name it, without \"**\"")
                }
                guard !(kind is UnsetStep) || kind.target.components.count == 1 else {
                    throw entry.error(
                        "a case can unset a field of the document itself, but not \"\(kind.target)\": make it a step "
                            + "of its own, with \"where\"")
                }
                if let first = cases.first, kind.target != first.target {
                    throw entry.error("all cases write one field: \"\(first.target)\", not \"\(kind.target)\"")
                }
                cases.append(located.step)
            }
        }
        self.init(cases: cases)
    }
}
