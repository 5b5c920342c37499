import BSON
import ServerSchema

/// What the walk tells its findings to.
///
/// The walk is generic over it, so that the fast pass is compiled to a few comparisons per element.
protocol FindingSink {
    /// Whether the walk may end at the first finding.
    static var stopsAtFirst: Bool { get }
    /// Whether the walk of an App Services schema validates what it meets, and what it goes past.
    static var validates: Bool { get }
    /// Takes a finding at its node's place, or below it as far as ``enter(_:)`` went.
    mutating func report(_ finding: Finding)
    /// Takes a finding at a field that the schema does not name, below the finding's node.
    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView)
    /// Notes a step down inside a mixed value, where the schema has no node.
    mutating func enter(_ step: SchemaPath.Step)
    /// Notes the way back.
    mutating func leave()
    /// Notes the value that is judged next, one whose type does not settle the matter.
    mutating func look(at element: BSONElement, of view: borrowing BSONView)
}

extension FindingSink {
    static var stopsAtFirst: Bool { false }
    static var validates: Bool { false }

    @inline(__always)
    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView) {
        report(finding)
    }

    @inline(__always)
    mutating func enter(_ step: SchemaPath.Step) {}

    @inline(__always)
    mutating func leave() {}

    @inline(__always)
    mutating func look(at element: BSONElement, of view: borrowing BSONView) {}
}

/// Keeps nothing, for a walk that tells itself whether the document fits.
struct QuickSink: FindingSink {
    static var stopsAtFirst: Bool { true }

    @inline(__always)
    mutating func report(_ finding: Finding) {}
}

/// Keeps nothing but the worst level.
struct VerdictSink: FindingSink {
    private(set) var verdict = Verdict.fits

    @inline(__always)
    mutating func report(_ finding: Finding) { verdict = max(verdict, Verdict(finding.level)) }
}

/// Keeps nothing but the worst level, of bytes that nobody has looked at before.
struct ValidatingSink: FindingSink {
    static var validates: Bool { true }
    private(set) var verdict = Verdict.fits

    @inline(__always)
    mutating func report(_ finding: Finding) { verdict = max(verdict, Verdict(finding.level)) }
}

/// Keeps every finding of at least a level.
struct FindingCollector: FindingSink {
    /// A finding and the steps from its node to its place, where there are any.
    struct Located: Hashable, Sendable {
        var finding: Finding
        var below: [SchemaPath.Step]
    }

    let minimum: Level
    let keepsValues: Bool
    private(set) var located: [Located] = []
    /// One per finding, when values are kept.
    private var values: [BSONValue?] = []
    private var below: [SchemaPath.Step] = []
    private var current: BSONValue?
    /// The number of the first node of the constraints, while those are judged.
    var firstConstraint: Int32?

    init(minimum: Level, keepsValues: Bool = false) {
        self.minimum = minimum
        self.keepsValues = keepsValues
    }

    mutating func removeAll() {
        located.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        current = nil
    }

    /// The value at the place of a finding; `nil` when none is kept.
    func value(of number: Int) -> BSONValue? { values.isEmpty ? nil : values[number] }

    mutating func report(_ finding: Finding) {
        let finding = numbered(finding)
        guard finding.level >= minimum else { return }
        located.append(Located(finding: finding, below: finding.rule == .mixedDepth ? [] : below))
        if keepsValues { values.append(finding.found.isOf(current) ? current : nil) }
    }

    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView) {
        let finding = numbered(finding)
        guard finding.level >= minimum else { return }
        located.append(Located(finding: finding, below: below + [.field(view.name(element))]))
        if keepsValues { values.append(try? view.value(element)) }
    }

    private func numbered(_ finding: Finding) -> Finding {
        guard let firstConstraint else { return finding }
        var result = finding
        result.node += firstConstraint
        result.level = .possible
        return result
    }

    mutating func enter(_ step: SchemaPath.Step) { below.append(step) }

    mutating func leave() { below.removeLast() }

    mutating func look(at element: BSONElement, of view: borrowing BSONView) {
        if keepsValues { current = try? view.value(element) }
    }

    /// The findings in words, each once.
    func violations(in schema: CompiledSchema) -> [Violation] {
        var seen: Set<Violation> = []
        return located.indices.compactMap { number in
            var violation = schema.violation(located[number])
            violation.value = value(of: number)
            return seen.insert(violation).inserted ? violation : nil
        }
    }
}

extension Found {
    /// Whether it speaks of the value that was looked at last, and not of one around it, or of an absent one.
    ///
    /// Of an object or an array it cannot be told: what is inside of them is looked at in between.
    fileprivate func isOf(_ value: BSONValue?) -> Bool {
        guard let value, value.type == type, TypeMask(type).isDisjoint(with: [.object, .array]) else { return false }
        return switch detail {
        case .none, .exact, .fraction, .notANumber, .infinity, .beyondInt32, .beyondInt64, .inexact, .sixteenBytes,
            .otherLength:
            true
        case .missing, .unusableDefault, .emptyKey, .dollarKey, .dottedKey, .equalElements, .tooDeep, .noCoordinates,
            .fewCoordinates, .coordinateType, .coordinateRange, .unsyncedReference, .referenceIDType,
            .tooLarge, .noneFits, .severalFit:
            false
        }
    }
}
