public import BSON
import ServerSchema

/// Checks the documents of one collection, and groups their findings.
///
/// The memory is bounded whatever the documents hold. Each thread has its own tally; the tallies are merged at the end.
public struct Tally: Sendable {
    /// The settings that decide what a tally keeps.
    public struct Options: Hashable, Sendable {
        /// The largest number of `_id`s that a group keeps.
        public var sampleCount = 5
        /// The largest number of groups; a finding that would need one more group is counted without a group.
        public var maximumGroupCount = 10_000
        /// Whether to group findings of the level ``Level/info`` too.
        ///
        /// If so, every document is checked by the slower method, which collects its findings.
        public var includesInfo = false
        /// Whether to keep the values that have findings; otherwise the tally keeps no values except `_id`s.
        public var keepsValues = false
        /// Whether the tally keeps what each document adds to the counts, so that ``Tally/take(back:of:)`` can subtract
        /// it.
        public var keepsContributions = false

        /// Creates the default options.
        public init() {}
    }

    /// The schema against which the documents are checked.
    public let schema: CompiledSchema
    /// The settings that decide what the tally keeps.
    public let options: Options
    /// The counts of the documents so far.
    public internal(set) var counts = DocumentCounts()
    /// The number of findings that were not grouped, because there were too many groups or a field's name was too long.
    public internal(set) var overflowCount = 0
    /// Called with every document that fails or might fail, and with its findings.
    ///
    /// The check is slower if this closure is set, because the texts of these findings are then needed.
    public var onFailure: (@Sendable (FailingDocument) -> Void)?

    /// Called with the `_id` of every document that is certain to fail under both ``schema`` and the active schema.
    public var onAlreadyFailing: (@Sendable (BSONValue) -> Void)?

    /// The number under which the counts of the last added document are kept.
    ///
    /// ``take(back:of:)`` subtracts the counts that are kept under this number.
    public internal(set) var lastContribution: UInt32 = 0

    /// The verdicts under which the last added document was counted.
    package private(set) var lastCounted = CountedVerdicts(bits: 0)
    /// The values that several documents have in a unique index, by the finding.
    var equalKeys: [FindingCollector.Located: EqualKeys] = [:]

    var contributions = ContributionTable()
    /// The texts of `_id`s for which ``countEqualText(_:ledger:)`` has counted a document.
    var equalTexts: Set<[UInt8]> = []
    /// The types of the documents' `_id`s; collected only if the engine has a rule against `_id`s with equal texts.
    private(set) var idTypes: TypeMask = []
    private let notesIDTypes: Bool
    let active: ActiveSchema
    let exceptions: ExceptionIndex
    var groups: [Group] = []
    private(set) var index: [FindingCollector.Located: Int] = [:]
    var collector: FindingCollector
    /// The number of documents that come before this tally's next document in the source and that other tallies count.
    ///
    /// `nil` if the documents have no order.
    private var skipped: Int?

    struct Group {
        var key: FindingCollector.Located
        /// The exception that covers the group; `nil` if there is none.
        var exception: FindingException?
        var count = 0
        /// The number of the group's documents that newly fail, or newly might fail, compared with the active schema.
        var newCount = 0
        var samples: [Sample] = []
        /// The position of the last document that the group counted; 0 if there is none.
        ///
        /// The tally's documents are numbered from 1. If a document has several findings of the group, the position
        /// shows that the group counted the document already.
        var last = 0

        /// Keeps the first ones of all samples, so that the result does not depend on which thread was faster.
        mutating func add(_ others: [Sample], atMost count: Int) {
            samples = Array((samples + others).sorted { $0.precedes($1) }.prefix(count))
        }
    }

    struct Sample {
        var id: BSONValue
        var value: BSONValue?
        /// The number of documents before the sample's document in the source; `nil` if it is not known.
        var place: Int?

        /// Whether the sample comes before `other`: in the source, or by `_id` if a sample's place is not known.
        func precedes(_ other: Sample) -> Bool {
            if let place, let others = other.place { return place < others }
            return BSONOrder.precedes(id, other.id)
        }
    }

    /// Creates a tally that has counted nothing.
    /// - Parameters:
    ///   - active: The active schema; every document is judged by both schemas.
    ///   - exceptions: The exceptions; findings that they cover are shown but do not fail the check.
    public init(
        _ schema: CompiledSchema, active: ActiveSchema = .notAsked, exceptions: [FindingException] = [],
        options: Options = Options()
    ) {
        self.schema = schema
        self.active = active
        self.exceptions = ExceptionIndex(exceptions, for: schema.namespace)
        self.options = options
        collector = FindingCollector(minimum: options.includesInfo ? .info : .warning, keepsValues: options.keepsValues)
        if schema.hasEngine { counts.engine = EngineCounts() }
        notesIDTypes = schema.comparesIDTexts
        if case .notAsked = active { return }
        counts.changes = VerdictChanges()
    }

    /// Checks a document and counts its findings.
    /// - Parameters:
    ///   - ledger: The documents that are already recorded as unsynced; `nil` if no ledger was read.
    ///   - validating: Whether the document's bytes still have to be validated.
    /// - Throws: ``BSONError`` if the bytes are damaged; the document is then not counted.
    @discardableResult
    public mutating func add(
        _ document: borrowing BSONView, ledger: LedgerIndex? = nil, validating: Bool = false
    ) throws(BSONError) -> Verdict {
        let verdict = validating ? try schema.validate(document) : try schema.check(document)
        let before = try activeVerdict(document)
        if notesIDTypes { try idTypes.note(idOf: document) }
        if verdict == .fits, !options.includesInfo {
            counts.add(verdict, active: before, unexcepted: verdict, isInLedger: false)
            lastContribution = ContributionTable.numberOfFitting(active: before)
            lastCounted = CountedVerdicts(.fits, active: before, unexcepted: .fits, isInLedger: false)
            return verdict
        }
        try addFindings(of: document, verdict, active: before, ledger)
        return verdict
    }

    @inline(__always)
    func activeVerdict(_ document: borrowing BSONView) throws(BSONError) -> Verdict? {
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
        var added = Contribution(verdict: verdict, active: active, isInLedger: isInLedger)
        added.isUnfound = verdict == .certain && collector.isOfQueries
        for (number, located) in collector.located.enumerated() {
            let sample = Sample(id: id, value: collector.value(of: number), place: skipped.map { $0 + counts.read })
            let isExcepted = count(located, sample, isNew: added.isNew, &added)
            added.add(located.finding.level, schema.engineRule(of: located), isExcepted: isExcepted)
        }
        counts.add(added, times: 1)
        lastCounted = CountedVerdicts(
            verdict, active: active, unexcepted: added.unexcepted, isInLedger: isInLedger, isUnfound: added.isUnfound)
        if options.keepsContributions { lastContribution = contributions.number(of: added) }
        if verdict == .certain, active == .certain { onAlreadyFailing?(id) }
        reportFailure(of: id, added, collector.violations(in: schema))
    }

    /// Passes a document that fails or might fail, as it was counted, to ``onFailure``.
    func reportFailure(of id: BSONValue, _ counted: Contribution, _ violations: @autoclosure () -> [Violation]) {
        guard counted.verdict >= .possible, let onFailure else { return }
        onFailure(
            FailingDocument(
                namespace: schema.namespace, id: id, verdict: counted.verdict, active: counted.active,
                isInLedger: counted.isInLedger, isExcepted: counted.unexcepted < .possible, violations: violations()))
    }

    private static func id(of document: borrowing BSONView) throws(BSONError) -> BSONValue {
        guard let element = try document.find("_id") else { return .undefined }
        return try document.value(element)
    }

    /// Counts a finding of the document that is being added.
    /// - Returns: Whether an exception covers the finding.
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
        if options.keepsContributions { added.groups.append(Int32(group)) }
        count(sample, in: group, isNew: isNew)
        return isExcepted
    }

    /// Counts findings about the documents to which a document's links lead.
    ///
    /// A required relation of Prisma without a document makes the document itself fail; other findings never do.
    /// - Parameter counted: The verdicts under which this tally has already counted the document.
    /// - Returns: The verdicts under which the document is counted now; `nil` if they are the same.
    package mutating func add(
        _ findings: Set<LinkFinding>, of id: BSONValue, counted: CountedVerdicts
    ) -> CountedVerdicts? {
        let before = counted.contribution
        var result = before
        var failing: [FindingCollector.Located] = []
        for finding in findings {
            let link = schema.links[finding.link]
            let rule: Rule = finding.kind == .dangling ? .linkDangling : .linkTargetUnsyncable
            let fails = rule == .linkDangling && link.relation?.isRequired == true
            let located = FindingCollector.Located(
                finding: Finding(rule, fails ? .certain : .info, node: link.node, Found(finding.type)), below: [])
            if fails {
                failing.append(located)
                result.verdict = .certain
                result.isUnfound = false
                if before.active != nil, isInActive(link) { result.active = .certain }
                if exceptions.exception(for: located, in: schema) == nil { result.unexcepted = .certain }
            }
            count(located, of: id, isNew: fails && result.isNew)
        }
        guard !failing.isEmpty else { return nil }
        counts.replace(before, by: result)
        if before.isReadable { counts.unincluded.add(isNew: result.isNew) }
        let now = CountedVerdicts(
            result.verdict, active: result.active, unexcepted: result.unexcepted, isInLedger: result.isInLedger)
        result.isInLedger = false
        reportFailure(of: id, result, failing.map(schema.violation))
        return now
    }

    /// Whether the active schema has a relation of the checked one, so that the same documents fail under both.
    private func isInActive(_ link: CompiledSchema.Link) -> Bool {
        guard case .covered(let active) = active, let relation = link.relation else { return false }
        return active.links.contains { $0.relation?.isEquivalent(to: relation) == true }
    }

    /// Counts a finding about a document that this tally has already counted.
    mutating func count(_ located: FindingCollector.Located, of id: BSONValue, isNew: Bool = false) {
        if let group = group(for: located) { count(Sample(id: id), in: group, isNew: isNew) }
    }

    private mutating func count(_ sample: Sample, in group: Int, isNew: Bool) {
        groups[group].count += 1
        if isNew { groups[group].newCount += 1 }
        guard groups[group].samples.count < options.sampleCount, sample.id.isSmall else { return }
        groups[group].samples.append(Sample(id: sample.id, value: sample.value?.shortened, place: sample.place))
    }

    mutating func group(for key: FindingCollector.Located) -> Int? {
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
    /// Sets how many documents of the source come before the next one that this tally adds.
    ///
    /// Call it if several threads share the source. When their tallies are merged, the samples that come first in the
    /// source are kept.
    package mutating func resume(after documents: Int) { skipped = documents - counts.read }

    /// Adds the counts that another thread made with the same schemas for other documents of the same collection.
    public mutating func merge(_ other: Tally) {
        precondition(
            schema.namespace == other.schema.namespace && schema.nodes.count == other.schema.nodes.count,
            "tallies of one schema are merged")
        counts += other.counts
        idTypes.formUnion(other.idTypes)
        overflowCount += other.overflowCount
        for theirs in other.groups {
            // A group is skipped if all its documents were subtracted after they had been counted.
            guard theirs.count > 0 else { continue }
            guard let mine = group(for: theirs.key) else {
                overflowCount += theirs.count - 1
                continue
            }
            groups[mine].count += theirs.count
            groups[mine].newCount += theirs.newCount
            groups[mine].add(theirs.samples, atMost: options.sampleCount)
        }
        for (key, theirs) in other.equalKeys { equalKeys[key, default: EqualKeys()].merge(theirs) }
    }
}

extension Tally {
    /// Whether the active schema covers the collection; `nil` if there is no active schema to compare with.
    var isInActive: Bool? {
        switch active {
        case .notAsked: nil
        case .notCovered: false
        case .covered: true
        }
    }

    /// The groups of findings, sorted by level, then by outcome in the engine, then by size; the worst and the largest
    /// come first.
    public var violationGroups: [ViolationGroup] {
        let builder = FilterBuilder(schema: schema)
        let isComparing = counts.changes != nil
        return groups.filter { $0.count > 0 }.map { group in
            let filter = builder.filter(for: group.key)
            var found = ViolationGroup(
                violation: schema.violation(group.key), foundType: group.key.finding.found.presentType,
                count: group.count,
                newCount: isComparing ? group.newCount : nil,
                sampleIDs: group.samples.map(\.id), sampleValues: group.samples.map(\.value),
                branches: schema.jsonSchema?.branches(around: Int(group.key.finding.node)) ?? [],
                exception: group.exception, filter: filter.document, filterIsExact: filter.isExact)
            found.equalKeys = equalKeys[group.key]
            return found
        }.sorted(by: ViolationGroup.isWorse)
    }
}

extension Tally {
    /// Whether the counts of a document were kept, so that ``take(back:of:)`` can subtract them.
    /// - Parameter contribution: The value of ``lastContribution`` after the document was added.
    public func knows(_ contribution: UInt32) -> Bool { contributions[contribution] != nil }

    /// Subtracts the counts of one document; does nothing if the document's counts were not kept.
    ///
    /// Call it only after all documents have been added.
    /// - Parameters:
    ///   - contribution: The value of ``lastContribution`` after the document was added.
    ///   - id: The document's `_id`.
    public mutating func take(back contribution: UInt32, of id: BSONValue) {
        guard let added = contributions[contribution] else { return }
        counts.add(added, times: -1)
        overflowCount -= added.overflowCount
        for index in added.groups.map(Int.init) {
            groups[index].count -= 1
            if added.isNew { groups[index].newCount -= 1 }
            // Compare as the server does: 1 equals 1.0, and NaN equals NaN.
            groups[index].samples.removeAll { $0.id.compared(to: id) == .equal }
        }
    }
}

extension DocumentCounts {
    /// Subtracts the counts that documents added, and adds the documents' new counts.
    /// - Parameter times: The number of the documents, which all have the same counts.
    mutating func replace(_ old: Contribution, by new: Contribution, times: Int = 1) {
        add(old, times: -times)
        add(new, times: times)
    }

    fileprivate mutating func add(_ added: Contribution, times: Int) {
        var one = DocumentCounts()
        one.engine = engine.map { _ in added.engine }
        one.changes = changes.map { _ in VerdictChanges() }
        one.add(added.verdict, active: added.active, unexcepted: added.unexcepted, isInLedger: added.isInLedger)
        if added.isUnfound { one.unfound.add(isNew: added.isNew) }
        add(one, times: times)
    }
}

extension Tally {
    /// Whether a document syncs, or might sync, under the active schema; true if no active schema covers the
    /// collection.
    /// - Throws: ``BSONError`` if the bytes are damaged.
    public func fitsActive(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        guard case .covered(let active) = active else { return true }
        return try active.check(document) != .certain
    }

    /// Changes the counts of a document that was counted as already failing: it now counts as newly failing.
    ///
    /// Call it for a document that synced until a job changed it for a schema that is not live yet.
    /// - Returns: Whether the document, as it is now, is certain to fail under both the new and the active schema; if
    ///   not, no count changes.
    /// - Throws: ``BSONError`` if the bytes are damaged; nothing is then counted.
    @discardableResult
    public mutating func countAsNew(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        guard case .covered(let active) = active, try schema.check(document) == .certain,
            try active.check(document) == .certain
        else { return false }
        collector.removeAll()
        try schema.collect(document, into: &collector)
        var unexcepted = Verdict.fits
        var seen: Set<Int> = []
        for located in collector.located {
            if let group = index[located], seen.insert(group).inserted { groups[group].newCount += 1 }
            if exceptions.exception(for: located, in: schema) == nil {
                unexcepted = max(unexcepted, Verdict(located.finding.level))
            }
        }
        counts.changes?.alreadyFailing -= 1
        counts.changes?.newlyFailing += 1
        if collector.isOfQueries { counts.unfound.new += 1 }
        switch unexcepted {
        case .certain: counts.unexcepted.newlyFailing += 1
        case .possible: counts.unexcepted.newlyPossible += 1
        case .fits, .warning: break
        }
        return true
    }
}

/// The limits of the names and values that a tally keeps, so that its memory does not depend on the data.
extension Tally {
    /// The largest number of bytes of a name or value, such as an `_id`, that is kept whole.
    static var maximumKeptBytes: Int { 256 }
}

extension BSONValue {
    /// Whether a tally keeps the whole value; `false` for a string, binary data, an object or an array of more than
    /// ``Tally/maximumKeptBytes`` bytes.
    package var isSmall: Bool {
        switch self {
        case .string(let text): text.utf8.count <= Tally.maximumKeptBytes
        case .binary(_, let bytes): bytes.count <= Tally.maximumKeptBytes
        case .object(let document), .array(let document): document.bytes.count <= Tally.maximumKeptBytes
        default: true
        }
    }

    /// The value itself if it is short, the beginning of a longer string, and `nil` for any other long value.
    var shortened: BSONValue? {
        if isSmall { return self }
        guard case .string(let text) = self else { return nil }
        return .string(String(text.prefix(Tally.maximumKeptBytes / 4)) + "…")
    }
}

extension FindingCollector.Located {
    /// Whether each field name in ``below`` has at most ``Tally/maximumKeptBytes`` bytes, so that a tally keeps the
    /// path.
    var isSmall: Bool {
        below.allSatisfy { step in
            if case .field(let name) = step { name.utf8.count <= Tally.maximumKeptBytes } else { true }
        }
    }
}
