import BSON
import ServerSchema

/// What the walk tells its findings to.
///
/// The walk is generic over it, so that the fast pass is compiled to a few comparisons per element.
protocol FindingSink {
    /// Takes a finding at its node's place, or below it as far as ``enter(_:)`` went.
    mutating func report(_ finding: Finding)
    /// Takes a finding at a field that the schema does not name, below the finding's node.
    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView)
    /// Notes a step down inside a mixed value, where the schema has no node.
    mutating func enter(_ step: SchemaPath.Step)
    /// Notes the way back.
    mutating func leave()
}

/// Keeps nothing but the worst level.
struct VerdictSink: FindingSink {
    private(set) var verdict = Verdict.fits

    @inline(__always)
    mutating func report(_ finding: Finding) { verdict = max(verdict, Verdict(finding.level)) }

    @inline(__always)
    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView) {
        report(finding)
    }

    @inline(__always)
    mutating func enter(_ step: SchemaPath.Step) {}

    @inline(__always)
    mutating func leave() {}
}

/// Keeps every finding of at least a level.
struct FindingCollector: FindingSink {
    /// A finding and the steps from its node to its place, where there are any.
    struct Located: Hashable, Sendable {
        var finding: Finding
        var below: [SchemaPath.Step]
    }

    let minimum: Level
    private(set) var located: [Located] = []
    private var below: [SchemaPath.Step] = []

    init(minimum: Level) { self.minimum = minimum }

    mutating func removeAll() { located.removeAll(keepingCapacity: true) }

    mutating func report(_ finding: Finding) {
        guard finding.level >= minimum else { return }
        located.append(Located(finding: finding, below: finding.rule == .mixedDepth ? [] : below))
    }

    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView) {
        guard finding.level >= minimum else { return }
        located.append(Located(finding: finding, below: below + [.field(view.name(element))]))
    }

    mutating func enter(_ step: SchemaPath.Step) { below.append(step) }

    mutating func leave() { below.removeLast() }
}
