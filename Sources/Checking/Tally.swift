public import BSON
import ServerSchema

/// Checks the documents of one collection and groups what it finds.
///
/// Its memory is bounded whatever the documents hold. Each thread keeps one of its own, and they are merged at the end.
public struct Tally: Sendable {
    /// What is kept.
    public struct Options: Hashable, Sendable {
        /// The `_id`s that a group keeps.
        public var sampleCount = 5
        /// The groups kept; what would make one more is only counted.
        public var maximumGroupCount = 10_000
        /// Whether to group what is only worth knowing: every document is then walked by the slower pass.
        public var includesInfo = false

        /// The defaults.
        public init() {}
    }

    /// What the documents are checked against.
    public let schema: CompiledSchema
    /// What is kept.
    public let options: Options
    /// The documents counted so far.
    public private(set) var counts = DocumentCounts()
    /// The findings that found no room among the groups.
    public private(set) var overflowCount = 0

    private var groups: [Group] = []
    private var index: [FindingCollector.Located: Int] = [:]
    private var collector: FindingCollector

    private struct Group {
        var key: FindingCollector.Located
        var count = 0
        var sampleIDs: [BSONValue] = []
        /// The number of the document that was counted last.
        var last = 0
    }

    /// Starts with nothing counted.
    public init(_ schema: CompiledSchema, options: Options = Options()) {
        self.schema = schema
        self.options = options
        collector = FindingCollector(minimum: options.includesInfo ? .info : .warning)
    }

    /// Checks a document and counts what is found.
    /// - Parameter ledger: The documents that are recorded as unsynced already.
    /// - Throws: ``BSONError`` when the bytes are damaged; the document is not counted then.
    @discardableResult
    public mutating func add(
        _ document: borrowing BSONView, ledger: LedgerIndex? = nil
    ) throws(BSONError) -> Verdict {
        let verdict = try schema.check(document)
        if verdict == .fits, !options.includesInfo {
            counts.add(verdict, isInLedger: false)
            return verdict
        }
        try addFindings(of: document, verdict, ledger)
        return verdict
    }

    @inline(never)
    private mutating func addFindings(
        of document: borrowing BSONView, _ verdict: Verdict, _ ledger: LedgerIndex?
    ) throws(BSONError) {
        collector.removeAll()
        try schema.collect(document, into: &collector)
        let id = try Self.id(of: document)
        let isInLedger = verdict >= .possible && ledger?.contains(id, in: schema.namespace) ?? false
        counts.add(verdict, isInLedger: isInLedger)
        for located in collector.located { count(located, id) }
    }

    /// The bytes that a name or an `_id` may have to be kept: larger ones would make the memory depend on the data.
    static var maximumKeptBytes: Int { 256 }

    private static func id(of document: borrowing BSONView) throws(BSONError) -> BSONValue {
        guard let element = try document.find("_id") else { return .undefined }
        return try document.value(element)
    }

    private mutating func count(_ located: FindingCollector.Located, _ id: BSONValue) {
        guard let group = group(for: located) else { return }
        if groups[group].last == counts.read { return }
        groups[group].last = counts.read
        groups[group].count += 1
        if groups[group].sampleIDs.count < options.sampleCount, Self.isSmall(id) { groups[group].sampleIDs.append(id) }
    }

    private static func isSmall(_ id: BSONValue) -> Bool {
        switch id {
        case .string(let text): text.utf8.count <= maximumKeptBytes
        case .binary(_, let bytes): bytes.count <= maximumKeptBytes
        case .object(let document), .array(let document): document.bytes.count <= maximumKeptBytes
        default: true
        }
    }

    private static func isSmall(_ key: FindingCollector.Located) -> Bool {
        key.below.allSatisfy { step in
            if case .field(let name) = step { name.utf8.count <= maximumKeptBytes } else { true }
        }
    }

    private mutating func group(for key: FindingCollector.Located) -> Int? {
        if let known = index[key] { return known }
        guard groups.count < options.maximumGroupCount, Self.isSmall(key) else {
            overflowCount += 1
            return nil
        }
        index[key] = groups.count
        groups.append(Group(key: key))
        return groups.count - 1
    }
}

extension Tally {
    /// Adds what another thread counted with the same schema, over other documents of the same collection.
    public mutating func merge(_ other: Tally) {
        precondition(
            schema.namespace == other.schema.namespace && schema.nodes.count == other.schema.nodes.count,
            "tallies of one schema are merged")
        counts += other.counts
        overflowCount += other.overflowCount
        for theirs in other.groups {
            guard let mine = group(for: theirs.key) else {
                overflowCount += theirs.count - 1
                continue
            }
            groups[mine].count += theirs.count
            // The least of both, so that the samples do not depend on which thread was faster.
            let ids = (groups[mine].sampleIDs + theirs.sampleIDs).sorted { BSONOrder.precedes($0, $1) }
            groups[mine].sampleIDs = Array(ids.prefix(options.sampleCount))
        }
    }

    /// The groups, the worst and the largest first.
    public var violationGroups: [ViolationGroup] {
        let builder = FilterBuilder(schema: schema)
        return groups.map { group in
            let filter = builder.filter(for: group.key)
            return ViolationGroup(
                violation: schema.violation(group.key), count: group.count, sampleIDs: group.sampleIDs,
                filter: filter.document, filterIsExact: filter.isExact)
        }.sorted(by: Self.isWorse)
    }

    private static func isWorse(_ left: ViolationGroup, _ right: ViolationGroup) -> Bool {
        if left.violation.level != right.violation.level { return left.violation.level > right.violation.level }
        if left.count != right.count { return left.count > right.count }
        if left.violation.path != right.violation.path { return left.violation.path < right.violation.path }
        return left.violation.description < right.violation.description
    }
}
