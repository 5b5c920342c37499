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
        /// Whether to keep the values that stand where the findings are; else no value leaves its document.
        public var keepsValues = false
        /// Whether ``Tally/lastContribution`` is kept, so that a document can be taken back.
        public var keepsContributions = false

        /// The defaults.
        public init() {}
    }

    /// What the documents are checked against.
    public let schema: CompiledSchema
    /// What is kept.
    public let options: Options
    /// The documents counted so far.
    public internal(set) var counts = DocumentCounts()
    /// The findings that found no room among the groups.
    public internal(set) var overflowCount = 0
    /// Told of every document that fails or may fail, with all its findings; slower by what it takes to put them in
    /// words.
    public var onFailure: (@Sendable (FailingDocument) -> Void)?

    /// Told of the `_id` of every document that is certain to fail under both schemas.
    public var onAlreadyFailing: (@Sendable (BSONValue) -> Void)?

    /// The number of what the last document added, for ``take(back:of:)``.
    public internal(set) var lastContribution: UInt32 = 0

    var contributions = ContributionTable()
    let active: ActiveSchema
    let exceptions: ExceptionIndex
    var groups: [Group] = []
    private(set) var index: [FindingCollector.Located: Int] = [:]
    var collector: FindingCollector
    /// How many documents in front of the next one others count, where the documents have an order.
    private var skipped: Int?

    struct Group {
        var key: FindingCollector.Located
        /// The exception that covers it.
        var exception: FindingException?
        var count = 0
        /// The documents among them that begin to fail, or to be possible.
        var newCount = 0
        var samples: [Sample] = []
        /// The number of the document that was counted last.
        var last = 0
    }

    struct Sample {
        var id: BSONValue
        var value: BSONValue?
        /// The documents in front of it, where that is known.
        var place: Int?

        /// Whether it goes before another thread's.
        func precedes(_ other: Sample) -> Bool {
            if let place, let others = other.place { return place < others }
            return BSONOrder.precedes(id, other.id)
        }
    }

    /// Starts with nothing counted.
    /// - Parameters:
    ///   - active: The schema that is live now: every document is then judged by both.
    ///   - exceptions: The findings that are shown, and that do not fail the check.
    public init(
        _ schema: CompiledSchema, active: ActiveSchema = .notAsked, exceptions: [FindingException] = [],
        options: Options = Options()
    ) {
        self.schema = schema
        self.active = active
        self.exceptions = ExceptionIndex(exceptions, for: schema.namespace)
        self.options = options
        collector = FindingCollector(minimum: options.includesInfo ? .info : .warning, keepsValues: options.keepsValues)
        if case .notAsked = active { return }
        counts.changes = VerdictChanges()
    }

    /// Checks a document and counts what is found.
    /// - Parameters:
    ///   - ledger: The documents that are recorded as unsynced already.
    ///   - validating: Whether nobody has looked at the bytes before.
    /// - Throws: ``BSONError`` when the bytes are damaged; the document is not counted then.
    @discardableResult
    public mutating func add(
        _ document: borrowing BSONView, ledger: LedgerIndex? = nil, validating: Bool = false
    ) throws(BSONError) -> Verdict {
        let verdict = validating ? try schema.validate(document) : try schema.check(document)
        let before = try activeVerdict(document)
        if verdict == .fits, !options.includesInfo {
            counts.add(verdict, active: before, unexcepted: verdict, isInLedger: false)
            lastContribution = ContributionTable.numberOfFitting(active: before)
            return verdict
        }
        try addFindings(of: document, verdict, active: before, ledger)
        return verdict
    }

    @inline(__always)
    private func activeVerdict(_ document: borrowing BSONView) throws(BSONError) -> Verdict? {
        switch active {
        case .notAsked: nil
        case .notCovered: .fits
        case .covered(let schema): try schema.check(document)
        }
    }

    @inline(never)
    private mutating func addFindings(
        of document: borrowing BSONView, _ verdict: Verdict, active: Verdict?, _ ledger: LedgerIndex?
    ) throws(BSONError) {
        collector.removeAll()
        try schema.collect(document, into: &collector)
        let id = try Self.id(of: document)
        let isInLedger = verdict >= .possible && ledger?.contains(id, in: schema.namespace) ?? false
        let isNew = active.map { VerdictChanges.isNew(from: $0, to: verdict) } ?? false
        var unexcepted = Verdict.fits
        var added = Contribution(verdict: verdict, active: active, isInLedger: isInLedger)
        for (number, located) in collector.located.enumerated() {
            let sample = Sample(id: id, value: collector.value(of: number), place: skipped.map { $0 + counts.read })
            let isExcepted = count(located, sample, isNew: isNew, &added)
            if !isExcepted { unexcepted = max(unexcepted, Verdict(located.finding.level)) }
        }
        counts.add(verdict, active: active, unexcepted: unexcepted, isInLedger: isInLedger)
        if options.keepsContributions {
            added.unexcepted = unexcepted
            lastContribution = contributions.number(of: added)
        }
        if verdict == .certain, active == .certain { onAlreadyFailing?(id) }
        guard verdict >= .possible, let onFailure else { return }
        onFailure(
            FailingDocument(
                namespace: schema.namespace, id: id, verdict: verdict, active: active, isInLedger: isInLedger,
                isExcepted: unexcepted < .possible, violations: collector.violations(in: schema)))
    }

    private static func id(of document: borrowing BSONView) throws(BSONError) -> BSONValue {
        guard let element = try document.find("_id") else { return .undefined }
        return try document.value(element)
    }

    /// Counts a finding of the document that is counted next.
    /// - Returns: Whether an exception covers it.
    private mutating func count(
        _ located: FindingCollector.Located, _ sample: Sample, isNew: Bool, _ added: inout Contribution
    ) -> Bool {
        guard let group = group(for: located) else {
            added.overflowCount += 1
            return exceptions.exception(for: located, in: schema) != nil
        }
        let isExcepted = groups[group].exception != nil
        guard groups[group].last <= counts.read else { return isExcepted }
        groups[group].last = counts.read + 1
        groups[group].count += 1
        if options.keepsContributions { added.groups.append(Int32(group)) }
        if isNew { groups[group].newCount += 1 }
        if groups[group].samples.count < options.sampleCount, sample.id.isSmall {
            groups[group].samples.append(
                Sample(id: sample.id, value: sample.value?.shortened, place: sample.place))
        }
        return isExcepted
    }

    /// Counts a finding of a document that was counted before.
    mutating func count(_ located: FindingCollector.Located, of id: BSONValue) {
        guard let group = group(for: located) else { return }
        groups[group].count += 1
        if groups[group].samples.count < options.sampleCount, id.isSmall {
            groups[group].samples.append(Sample(id: id, value: nil))
        }
    }

    private mutating func group(for key: FindingCollector.Located) -> Int? {
        if let known = index[key] { return known }
        guard groups.count < options.maximumGroupCount, key.isSmall else {
            overflowCount += 1
            return nil
        }
        index[key] = groups.count
        groups.append(Group(key: key, exception: exceptions.exception(for: key, in: schema)))
        return groups.count - 1
    }
}

extension Tally {
    /// Says how many documents stand in front of the next one, where several threads share the documents of a source: of
    /// what they merge, the samples that stand first are kept.
    package mutating func goOn(behind documents: Int) { skipped = documents - counts.read }

    /// Adds what another thread counted with the same schemas, over other documents of the same collection.
    public mutating func merge(_ other: Tally) {
        precondition(
            schema.namespace == other.schema.namespace && schema.nodes.count == other.schema.nodes.count,
            "tallies of one schema are merged")
        counts += other.counts
        overflowCount += other.overflowCount
        for theirs in other.groups {
            // Of groups whose documents were all taken back nothing is left.
            guard theirs.count > 0 else { continue }
            guard let mine = group(for: theirs.key) else {
                overflowCount += theirs.count - 1
                continue
            }
            groups[mine].count += theirs.count
            groups[mine].newCount += theirs.newCount
            // The first of both, so that the samples do not depend on which thread was faster.
            let samples = (groups[mine].samples + theirs.samples).sorted { $0.precedes($1) }
            groups[mine].samples = Array(samples.prefix(options.sampleCount))
        }
    }
}
