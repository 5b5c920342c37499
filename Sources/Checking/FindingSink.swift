import BSON
import ServerSchema

/// A receiver of the findings of ``Walker``, ``JSONWalker`` and ``EngineWalker``.
///
/// The walkers are generic over the sink, so that a check that keeps no findings compiles to a few comparisons per
/// element.
protocol FindingSink {
    /// Whether the walker may end at the first finding.
    static var stopsAtFirst: Bool { get }
    /// Whether ``Walker`` validates all bytes, even those of values that it skips.
    static var validates: Bool { get }
    /// Receives a finding.
    ///
    /// The path of the value that has the finding begins with the path of the finding's node. It continues with the
    /// steps that ``enter(_:)`` has added.
    mutating func report(_ finding: Finding)
    /// Receives a finding about `element`, a field that the schema does not name.
    ///
    /// The field is in the object at the finding's node.
    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView)
    /// Adds a step to the path that leads from a finding's node down to the value that the walker judges.
    ///
    /// The walker adds steps, for example, inside a mixed value, because the values inside it have no nodes of their
    /// own.
    mutating func enter(_ step: SchemaPath.Step)
    /// Adds a step that leads into a field; the field's name is converted to a String only if the sink keeps paths.
    mutating func enter(field element: BSONElement, of view: borrowing BSONView)
    /// Removes the step that was added last.
    mutating func leave()
    /// Begins the paths of the nodes that the walker judges next at an object of a shared type, whose node is `index`.
    mutating func enter(node index: Int)
    /// Ends what ``enter(node:)`` began.
    mutating func leaveNode()
    /// Notes the value that the walker judges next; called only if the value's type alone does not show that it fits.
    mutating func visit(at element: BSONElement, of view: borrowing BSONView)
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
    mutating func enter(field element: BSONElement, of view: borrowing BSONView) {}

    @inline(__always)
    mutating func leave() {}

    @inline(__always)
    mutating func enter(node index: Int) {}

    @inline(__always)
    mutating func leaveNode() {}

    @inline(__always)
    mutating func visit(at element: BSONElement, of view: borrowing BSONView) {}
}

/// A sink that keeps nothing, for ``JSONWalker``, which itself returns whether the document fits.
struct QuickSink: FindingSink {
    static var stopsAtFirst: Bool { true }

    @inline(__always)
    mutating func report(_ finding: Finding) {}
}

/// A sink that keeps only the verdict that the worst finding causes.
struct VerdictSink: FindingSink {
    private(set) var verdict = Verdict.fits

    @inline(__always)
    mutating func report(_ finding: Finding) { verdict = max(verdict, Verdict(finding.level)) }
}

/// A sink that keeps only the verdict for the worst level, and makes the walker validate the values that it skips.
struct ValidatingSink: FindingSink {
    static var validates: Bool { true }
    private(set) var verdict = Verdict.fits

    @inline(__always)
    mutating func report(_ finding: Finding) { verdict = max(verdict, Verdict(finding.level)) }
}

/// A sink that keeps every finding of at least a minimum level.
struct FindingCollector: FindingSink {
    /// A finding, and the steps from its node down to the value that has it; no steps if the value is at the node.
    struct Located: Hashable, Sendable {
        var finding: Finding
        var below: [SchemaPath.Step]
        /// The nodes of the objects of shared types around the finding's node, the outermost first.
        ///
        /// The path of each of them, and of the finding's node, begins at the object before it.
        var around: [Int32] = []
    }

    let minimum: Level
    let keepsValues: Bool
    private(set) var located: [Located] = []
    /// The value that has each finding, in the order of ``located``; empty if values are not kept.
    private var values: [BSONValue?] = []
    private var below: [SchemaPath.Step] = []
    private var around: [Int32] = []
    private var current: BSONValue?
    /// The number of the first constraint node while the walker judges constraints; otherwise `nil`.
    ///
    /// The walker counts constraint nodes from 0. The collector adds this number, because constraint nodes come after
    /// the schema's own nodes.
    var firstConstraint: Int32?

    init(minimum: Level, keepsValues: Bool = false) {
        self.minimum = minimum
        self.keepsValues = keepsValues
    }

    mutating func removeAll() {
        located.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        around.removeAll(keepingCapacity: true)
        current = nil
    }

    /// Whether every certain finding is only about queries that do not find the document.
    var isOfQueries: Bool { located.allSatisfy { $0.finding.level < .certain || $0.finding.rule.isOfQueries } }

    /// Returns the value that has the finding at the index `number` of ``located``; `nil` if it was not kept.
    func value(of number: Int) -> BSONValue? { values.isEmpty ? nil : values[number] }

    mutating func report(_ finding: Finding) {
        let finding = numbered(finding)
        guard finding.level >= minimum else { return }
        located.append(Located(finding: finding, below: finding.rule == .mixedDepth ? [] : below, around: around))
        if keepsValues { values.append(finding.found.isOf(current) ? current : nil) }
    }

    mutating func report(_ finding: Finding, extra element: BSONElement, of view: borrowing BSONView) {
        let finding = numbered(finding)
        guard finding.level >= minimum else { return }
        located.append(Located(finding: finding, below: below + [.field(view.name(element))], around: around))
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

    mutating func enter(field element: BSONElement, of view: borrowing BSONView) {
        below.append(.field(view.name(element)))
    }

    mutating func leave() { below.removeLast() }

    mutating func enter(node index: Int) { around.append(Int32(index)) }

    mutating func leaveNode() { around.removeLast() }

    mutating func visit(at element: BSONElement, of view: borrowing BSONView) {
        if keepsValues { current = try? view.value(element) }
    }

    /// Returns the findings as violations with texts; equal violations are returned once.
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
    /// Whether the finding applies to `value`, the value that the walker noted last.
    ///
    /// Otherwise the finding applies to an object or array around that value, or to a missing value. The result is
    /// always `false` for objects and arrays, because the walker notes the values inside them before it reports.
    fileprivate func isOf(_ value: BSONValue?) -> Bool {
        guard let value, value.type == type, TypeMask(type).isDisjoint(with: [.object, .array]) else { return false }
        return switch detail {
        case .none, .exact, .fraction, .notANumber, .infinity, .beyondInt32, .beyondInt64, .inexact, .sixteenBytes,
            .otherLength, .noObjectID, .increment, .wrongLength, .invalidText, .noMember, .dateOutOfRange,
            .numberOutOfRange, .number,
            .notNumber, .exponent:
            true
        case .missing, .unusableDefault, .emptyKey, .dollarKey, .dottedKey, .equalElements, .tooDeep, .noCoordinates,
            .fewCoordinates, .coordinateType, .coordinateRange, .unsyncedReference, .referenceIDType,
            .tooLarge, .noneFits, .severalFit, .nestedDeeper, .longer, .larger, .largerAsJSON, .moreFields,
            .equalText, .equalKey, .noKey, .severalArrays, .unfit, .unreadable, .falsy, .invalidName, .repeatedName,
            .prototypeName:
            false
        }
    }
}
