public import BSON
import ServerSchema

/// The values of a unique index that several documents have.
public struct EqualKeys: Hashable, Sendable {
    /// Documents with one value in the index.
    public struct Group: Hashable, Sendable {
        /// The number of the documents.
        public var documents: Int
        /// The `_id`s of a few of the documents.
        public var ids: [BSONValue]
        /// The value of one of the documents; `nil` without `--show-values`.
        public var value: BSONValue?
        /// The `_id`s of all documents, if they are few.
        fileprivate var all: [BSONValue] = []

        /// Creates a group without documents.
        package init() { (documents, ids) = (0, []) }

        /// Adds a document; the first few `_id`s in the server's order are kept.
        package mutating func add(_ id: BSONValue) {
            documents += 1
            if all.count < EqualKeys.mostOlder { all.append(id) }
            if ids.count == 5, BSONOrder.precedes(ids[4], id) || !id.isSmall { return }
            ids.insert(id, at: ids.firstIndex { BSONOrder.precedes(id, $0) } ?? ids.count)
            ids = Array(ids.prefix(5))
        }
    }

    /// The number of values that several documents have.
    public var values = 0
    /// The values with the most documents, the most frequent first.
    public private(set) var largest: [Group] = []
    /// The `_id`s of the documents other than the one with the greatest `_id` of each value.
    package private(set) var older: [BSONValue] = []
    /// Whether ``older`` has all of these `_id`s.
    package private(set) var isWhole = true

    /// The number of `_id`s that ``older`` keeps.
    package static let mostOlder = 1_000

    package init() {}

    /// The number of values that ``largest`` keeps.
    private static let most = 5

    /// Counts a value that several documents have.
    package mutating func add(_ group: Group) {
        values += 1
        isWhole = isWhole && group.documents == group.all.count && older.count + group.documents <= Self.mostOlder
        older = isWhole ? (older + group.all.sorted(by: BSONOrder.precedes).dropLast()) : []
        func isBefore(_ left: Group, _ right: Group) -> Bool {
            if left.documents != right.documents { return left.documents > right.documents }
            return BSONOrder.precedes(left.ids.first ?? .minKey, right.ids.first ?? .minKey)
        }
        if largest.count == Self.most, !isBefore(group, largest[Self.most - 1]) { return }
        largest.insert(group, at: largest.firstIndex { isBefore(group, $0) } ?? largest.count)
        largest = Array(largest.prefix(Self.most))
        for index in largest.indices { largest[index].all = [] }
    }
}

/// The reason why a unique index refuses a document.
package enum UniqueFault: UInt8, Sendable, BitwiseCopyable {
    /// Another document has the same value.
    case duplicate
    /// The value is null or missing, as in another document.
    case null
    /// The document has arrays at two paths of the index.
    case arrays

    fileprivate var rule: Rule {
        switch self {
        case .duplicate: .uniqueDuplicate
        case .null: .uniqueNull
        case .arrays: .uniqueArrays
        }
    }

    fileprivate var detail: Found.Detail {
        switch self {
        case .duplicate: .equalKey
        case .null: .noKey
        case .arrays: .severalArrays
        }
    }
}

/// The verdicts under which a tally counted a document, in nine bits.
package struct CountedVerdicts: Sendable, BitwiseCopyable {
    package let bits: UInt16

    package init(bits: UInt16) { self.bits = bits }

    @inline(__always)
    init(
        _ verdict: Verdict, active: Verdict?, unexcepted: Verdict, isInLedger: Bool, isUnfound: Bool = false
    ) {
        bits =
            UInt16(verdict.rawValue | unexcepted.rawValue << 2 | (active.map { $0.rawValue + 1 } ?? 0) << 4)
            | (isInLedger ? 128 : 0) | (isUnfound ? 256 : 0)
    }

    var contribution: Contribution {
        func verdict(_ bits: UInt16) -> Verdict { Verdict(rawValue: UInt8(bits & 3)) ?? .fits }
        let active = bits >> 4 & 7
        var contribution = Contribution(verdict: verdict(bits), active: active == 0 ? nil : verdict(active - 1))
        (contribution.isInLedger, contribution.isUnfound) = (bits & 128 != 0, bits & 256 != 0)
        contribution.unexcepted = verdict(bits >> 2)
        return contribution
    }
}

extension CompiledSchema {
    /// The number of the node of the first unique index.
    private var firstUnique: Int { texts.paths.count - uniqueKeys.count }

    /// Returns the unique index that refuses a document; `nil` for any other finding.
    func uniqueKey(of located: FindingCollector.Located) -> UniqueKey? {
        let index = Int(located.finding.node) - firstUnique
        return uniqueKeys.indices.contains(index) ? uniqueKeys[index] : nil
    }

    fileprivate func located(_ fault: UniqueFault, of key: Int) -> FindingCollector.Located {
        FindingCollector.Located(
            finding: Finding(fault.rule, .certain, node: firstUnique + key, Found(.undefined, fault.detail)), below: [])
    }
}

extension ViolationGroup {
    /// Whether a unique index refuses the documents.
    package var isOfKeys: Bool { [.uniqueDuplicate, .uniqueNull, .uniqueArrays].contains(violation.rule) }
    /// Whether a Prisma client reads the documents, and finds none by a query with the value.
    package var isOfQueries: Bool { [.storedType, .malformedObjectID].contains(violation.rule) }
}

extension UniqueKey {
    /// A description of the values that the index accepts.
    package var expectation: String { "unique \(words) (index \(name))" }

    /// A filter for the documents that have values in the index, among them those of a finding.
    func filter(for rule: Rule) -> BSONDocument {
        guard rule == .uniqueNull else { return BSONDocument(paths.map { ($0, ["$exists": true]) }) }
        let lacking = paths.map { BSONDocument([($0, .null)]) }
        return lacking.count == 1 ? lacking[0] : ["$or": .array(of: lacking.map { .object($0) })]
    }
}

extension Tally {
    /// Whether the active schema already has a unique index that is the same as that of `schema` with this number.
    private func isActive(_ key: Int) -> Bool {
        guard case .covered(let active) = active else { return false }
        return active.uniqueKeys.contains(where: schema.uniqueKeys[key].isSame)
    }

    /// Counts the findings that unique indexes refuse a document, which this tally or one that it merged has counted.
    /// - Parameters:
    ///   - faults: The numbers of the indexes that refuse the document, each with the reason; each pair once.
    ///   - counted: The verdicts under which the document was counted.
    package mutating func count(
        _ faults: [(key: Int, fault: UniqueFault)], of id: BSONValue, counted: CountedVerdicts
    ) {
        let old = counted.contribution
        var new = old
        (new.verdict, new.isUnfound) = (.certain, false)
        // An index that the active schema lacks is refused now, whatever else is wrong with the documents.
        let isNew = faults.contains { !isActive($0.key) }
        new.active = old.active.map { _ in isNew ? .fits : .certain }
        var violations: [Violation] = []
        for (key, fault) in faults {
            let located = schema.located(fault, of: key)
            guard let group = group(for: located) else {
                new.unexcepted = .certain
                continue
            }
            if groups[group].exception == nil { new.unexcepted = .certain }
            groups[group].count += 1
            if new.isNew, !isActive(key) { groups[group].newCount += 1 }
            groups[group].keep(Sample(id: id, value: nil), atMost: options.sampleCount)
            if onFailure != nil { violations.append(schema.violation(located)) }
        }
        counts.replace(old, by: new)
        if old.isReadable { counts.refused.add(isNew: new.isNew) }
        onFailure?(
            FailingDocument(
                namespace: schema.namespace, id: id, verdict: .certain, active: new.active,
                isInLedger: old.isInLedger, isExcepted: new.unexcepted < .possible, violations: violations))
    }

    /// Counts a value that several documents have in the unique index with this number.
    package mutating func count(_ group: EqualKeys.Group, _ fault: UniqueFault, of key: Int) {
        equalKeys[schema.located(fault, of: key), default: EqualKeys()].add(group)
    }
}

extension Tally.Group {
    /// Keeps a sample if it is among the first ones in the order of `_id`, so that each run shows the same samples.
    fileprivate mutating func keep(_ sample: Tally.Sample, atMost count: Int) {
        if samples.count == count, let last = samples.last, !sample.precedes(last) { return }
        guard sample.id.isSmall else { return }
        samples.insert(sample, at: samples.firstIndex { sample.precedes($0) } ?? samples.count)
        samples = Array(samples.prefix(count))
    }
}
