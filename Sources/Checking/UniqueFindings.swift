public import BSON
package import ServerSchema

/// The values of a unique index that several documents have.
public struct EqualKeys: Hashable, Sendable {
    /// Documents with one value in the index.
    public struct Group: Hashable, Sendable {
        /// The number of the documents.
        public var documents: Int
        /// The `_id`s of a few of the documents.
        public var ids: [BSONValue] { first.ids }
        /// The value of one of the documents; `nil` without `--show-values`.
        public var value: BSONValue?
        /// The first of the documents' `_id`s.
        package var first = FirstIDs(atMost: 5)

        /// Creates a group of documents whose `_id`s are not known yet.
        package init(documents: Int) { self.documents = documents }
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
    /// The number of values that ``largest`` keeps.
    private static let most = 5

    package init() {}

    /// Returns whether a value is one of those with the most documents so far.
    /// - Parameter first: The first of the documents' `_id`s.
    package func isShown(documents: Int, first: BSONValue?) -> Bool {
        guard largest.count == Self.most, let last = largest.last else { return true }
        return Self.isShown(documents, first, before: last)
    }

    private static func isShown(_ documents: Int, _ first: BSONValue?, before other: Group) -> Bool {
        if documents != other.documents { return documents > other.documents }
        return BSONOrder.precedes(first ?? .maxKey, other.ids.first ?? .maxKey)
    }

    /// Counts values that several documents have.
    /// - Parameters:
    ///   - groups: The groups of at least those values for which ``isShown(documents:first:)`` is true.
    ///   - ids: The `_id`s of the documents of each value; `nil` if they are too many.
    package mutating func add(values: Int, _ groups: [Group], ids: [[BSONValue]]?) {
        let older = ids.map { $0.flatMap { $0.sorted(by: BSONOrder.precedes).dropLast() } }
        add(values: values, groups, older: older ?? [], isWhole: older != nil)
    }

    /// Adds the values that another thread counted; no value is in both.
    package mutating func merge(_ other: EqualKeys) {
        add(values: other.values, other.largest, older: other.older, isWhole: other.isWhole)
    }

    private mutating func add(values: Int, _ groups: [Group], older: [BSONValue], isWhole: Bool) {
        self.values += values
        self.isWhole = self.isWhole && isWhole && self.older.count + older.count <= Self.mostOlder
        self.older = self.isWhole ? self.older + older : []
        for group in groups where isShown(documents: group.documents, first: group.ids.first) {
            let place = self.largest.firstIndex { Self.isShown(group.documents, group.ids.first, before: $0) }
            self.largest.insert(group, at: place ?? self.largest.count)
            self.largest = Array(self.largest.prefix(Self.most))
        }
    }
}

/// The first of some documents' `_id`s in the server's order; long ones are left out.
package struct FirstIDs: Hashable, Sendable {
    /// The `_id`s in their order.
    package private(set) var ids: [BSONValue] = []
    private let most: Int

    package init(atMost most: Int) { self.most = most }

    /// Keeps an `_id` if it is among the first ones.
    package mutating func keep(_ id: BSONValue) {
        if ids.count == most, let last = ids.last, !BSONOrder.precedes(id, last) { return }
        guard id.isSmall, most > 0 else { return }
        if ids.count == most { ids.removeLast() }
        ids.insert(id, at: ids.firstIndex { BSONOrder.precedes(id, $0) } ?? ids.count)
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

    fileprivate var finding: (rule: Rule, detail: Found.Detail) {
        switch self {
        case .duplicate: (.uniqueDuplicate, .equalKey)
        case .null: (.uniqueNull, .noKey)
        case .arrays: (.uniqueArrays, .severalArrays)
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
        let (rule, detail) = fault.finding
        return FindingCollector.Located(
            finding: Finding(rule, .certain, node: firstUnique + key, Found(.undefined, detail)), below: [])
    }
}

extension ViolationGroup {
    /// Whether a unique index refuses the documents.
    package var isOfKeys: Bool { [.uniqueDuplicate, .uniqueNull, .uniqueArrays].contains(violation.rule.rule) }
    /// Whether a Prisma client reads the documents, and finds none by a query with the value.
    package var isOfQueries: Bool { violation.rule.rule?.isOfQueries ?? false }
}

extension [ViolationGroup] {
    package func documents(refusedBy key: UniqueKey) -> Int {
        reduce(0) { $0 + ($1.violation.expected == key.expectation ? $1.count : 0) }
    }
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

    /// Counts the findings that unique indexes refuse documents, which this tally or one that it merged has counted.
    /// - Parameters:
    ///   - faults: The numbers of the indexes that refuse each of the documents, with the reasons; each pair once.
    ///   - documents: The number of the documents.
    ///   - ids: The first of the documents' `_id`s, at least as many as there are samples; all of them if a listener
    ///     receives each failing document.
    ///   - counted: The verdicts under which each of the documents was counted.
    package mutating func count(
        _ faults: [(key: Int, fault: UniqueFault)], documents: Int, _ ids: [BSONValue], _ counted: CountedVerdicts
    ) {
        let old = counted.contribution
        var new = old
        (new.verdict, new.isUnfound) = (.certain, false)
        // An index that the active schema lacks is refused now, whatever else is wrong with the documents.
        let isNew = faults.contains { !isActive($0.key) }
        new.active = old.active.map { _ in isNew ? .fits : .certain }
        let found = faults.map { ($0.key, schema.located($0.fault, of: $0.key)) }
        for (key, located) in found {
            guard let group = group(for: located) else {
                new.unexcepted = .certain
                continue
            }
            if groups[group].exception == nil { new.unexcepted = .certain }
            groups[group].count += documents
            if new.isNew, !isActive(key) { groups[group].newCount += documents }
            let samples = ids.filter(\.isSmall).map { Sample(id: $0, value: nil) }
            groups[group].add(samples, atMost: options.sampleCount)
        }
        counts.replace(old, by: new, times: documents)
        if old.isReadable { counts.refused.add(isNew: new.isNew, times: documents) }
        guard onFailure != nil else { return }
        let violations = found.map { schema.violation($0.1) }
        for id in ids { reportFailure(of: id, new, violations) }
    }

    /// The values that several documents have in the unique index with this number.
    package subscript(equalKeys fault: UniqueFault, of key: Int) -> EqualKeys {
        get { equalKeys[schema.located(fault, of: key)] ?? EqualKeys() }
        set { equalKeys[schema.located(fault, of: key)] = newValue }
    }
}
