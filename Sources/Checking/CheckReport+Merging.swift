import BSON
import ServerSchema

/// The reason why reports cannot be joined.
public struct MergeError: Error, Hashable, CustomStringConvertible, Sendable {
    /// The problem, and how to solve it.
    public let description: String
}

extension CheckReport {
    /// Joins the reports of all parts of a check.
    ///
    /// The schema change comes from the report of part 1, because only that check counts the links to types that become
    /// embedded.
    /// - Parameter reports: The reports, each with the name that errors show.
    /// - Throws: ``MergeError`` if the reports are not those of all parts of one check, each given once.
    public init(merging reports: [(name: String, report: CheckReport)]) throws(MergeError) {
        try Self.checkWhole(reports)
        let parts = reports.map(\.report).sorted { ($0.part?.part.number ?? 0) < ($1.part?.part.number ?? 0) }
        var merged = parts[0]
        for index in merged.collections.indices {
            merged.collections[index] = Collection(merging: parts.map { $0.collections[index] })
        }
        for index in merged.active?.removed.indices ?? 0..<0 {
            let counts = parts.compactMap { $0.active?.removed[index].documentCount }
            merged.active?.removed[index].documentCount = counts.max()
        }
        merged.absent = merged.absent.filter { absent in parts.allSatisfy { $0.absent.contains(absent) } }
        merged.jobs = parts.dropFirst().reduce(into: merged.jobs) { jobs, part in
            for trace in part.jobs { jobs.add(trace) }
        }
        merged.exceptions = merged.exceptions.map { use in
            var use = use
            let matched = Set(parts.flatMap { $0.exceptions?.matched ?? [] })
            let all = (use.matched + use.unmatched).sorted { $0.acceptance.location.line < $1.acceptance.location.line }
            use.matched = all.filter(matched.contains)
            use.unmatched = all.filter { !matched.contains($0) }
            return use
        }
        var seen: Set<String> = []
        merged.notes = parts.flatMap(\.notes).filter { seen.insert($0).inserted }
        self.init(
            source: merged.source, active: merged.active, collections: merged.collections, absent: merged.absent,
            sync: merged.sync,
            ledger: parts.compactMap(\.verdict.ledger).max { $0.entries < $1.entries }, limit: merged.verdict.limit,
            exceptions: merged.exceptions, notes: merged.notes, duration: parts.map(\.duration).max() ?? .zero)
        (rules, jobs) = (merged.rules, merged.jobs)
        if merged.part?.policy.includesPossible ?? false { countPossible() }
    }

    private static func checkWhole(_ reports: [(name: String, report: CheckReport)]) throws(MergeError) {
        var names: [Int: String] = [:]
        guard let (firstName, first) = reports.first else { throw MergeError(description: "there is no report") }
        for (name, report) in reports {
            guard let part = report.part, let whole = first.part else {
                let odd = report.part == nil ? name : firstName
                throw MergeError(
                    description: "\(odd) is the report of a whole check: give only reports of check --part")
            }
            guard part.part.count == whole.part.count else {
                throw MergeError(
                    description:
                        "\(name) is part \(part.part), and \(firstName) part \(whole.part): give the parts of one check"
                )
            }
            guard part.digest == whole.digest, part.policy == whole.policy, report.rules == first.rules,
                report.collections.map(\.namespace) == first.collections.map(\.namespace),
                report.active?.removed.map(\.namespace) == first.active?.removed.map(\.namespace)
            else {
                throw MergeError(
                    description:
                        "\(name) and \(firstName) were made with different schemas or flags, or the collections were "
                        + "cut again in between: run all parts again with the same schemas and flags")
            }
            guard report.source == first.source else {
                throw MergeError(description: "\(name) is from \(report.source), and \(firstName) from \(first.source)")
            }
            if let other = names.updateValue(name, forKey: part.part.number) {
                throw MergeError(description: "\(other) and \(name) are both part \(part.part): give each part once")
            }
        }
        let count = first.part?.part.count ?? 0
        let missing = (1...max(1, count)).filter { names[$0] == nil }
        guard missing.isEmpty else {
            let (parts, are) = missing.count == 1 ? ("part", "is") : ("parts", "are")
            throw MergeError(
                description: "\(parts) \(missing.map(String.init).joined(separator: ", ")) of \(count) \(are) missing: "
                    + "run check --part \(missing[0])/\(count)")
        }
    }
}

extension CheckReport.Collection {
    /// Joins the results of all parts for one collection.
    fileprivate init(merging parts: [Self]) {
        self = parts[0]
        counts = parts.dropFirst().reduce(into: counts) { $0 += $1.counts }
        estimatedCount = parts.compactMap(\.estimatedCount).max()
        overflowCount = parts.reduce(0) { $0 + $1.overflowCount }
        reading = Reading(merging: parts.map(\.reading))
        var keys: [ViolationGroup.Key: Int] = [:]
        groups = []
        for part in parts {
            for group in part.groups {
                if let known = keys[group.key] {
                    groups[known].merge(group)
                } else {
                    keys[group.key] = groups.count
                    groups.append(group)
                }
            }
        }
        // If one part found none of a group's violations, the server did not count the group's documents for that part.
        // The total is then unknown.
        for index in groups.indices where !parts.allSatisfy({ $0.groups.contains { $0.key == groups[index].key } }) {
            groups[index].provenCount = nil
        }
        groups.sort(by: ViolationGroup.isWorse)
    }
}

extension CheckReport.Collection.Reading {
    fileprivate init(merging parts: [Self]) {
        self = parts[0]
        selection = .everything
        changedCount = parts.reduce(0) { $0 + $1.changedCount }
        passedOverCount = parts.sum(\.passedOverCount)
        exactCount = parts.sum(\.exactCount)
        for part in parts.dropFirst() { part.comparison.map { comparison?.merge($0) } }
        missing = []
        for guarantee in parts.flatMap(\.missing) where !missing.contains(guarantee) { missing.append(guarantee) }
        if !parts.allSatisfy({ $0.clusterTime == clusterTime }) {
            clusterTime = nil
            if !missing.contains(where: { $0.guarantee == .oneMoment }) {
                missing.append(
                    MissingGuarantee(
                        .oneMoment, "each of its \(parts.count) parts is consistent as of its own time"))
            }
        }
    }
}

extension [CheckReport.Collection.Reading] {
    /// Returns the sum of one count over all parts of a check; `nil` if a part lacks this count.
    fileprivate func sum(_ count: (Element) -> Int?) -> Int? {
        let counts = compactMap(count)
        return counts.count == self.count ? counts.reduce(0, +) : nil
    }
}

extension ViolationGroup {
    /// The properties that must be equal in two groups for them to be merged.
    fileprivate struct Key: Hashable {
        let violation: Violation
        let filter: BSONDocument
    }

    fileprivate var key: Key { Key(violation: violation, filter: filter) }

    fileprivate mutating func merge(_ other: ViolationGroup) {
        count += other.count
        if let theirs = other.newCount { newCount = (newCount ?? 0) + theirs }
        provenCount = provenCount.flatMap { mine in other.provenCount.map { mine + $0 } }
        let samples = (sampleIDs + other.sampleIDs).sorted(by: BSONOrder.precedes)
        sampleIDs = Array(samples.prefix(Tally.Options().sampleCount))
    }

    /// Whether `left` is listed before `right`.
    ///
    /// The group with the worse level comes first. Groups of one level are compared by the worse consequence in the
    /// sync engine, then by the larger count, and then by path and text.
    static func isWorse(_ left: ViolationGroup, _ right: ViolationGroup) -> Bool {
        if left.violation.level != right.violation.level { return left.violation.level > right.violation.level }
        let (outcome, other) = (left.outcome ?? .changed, right.outcome ?? .changed)
        if outcome != other { return outcome > other }
        if left.count != right.count { return left.count > right.count }
        if left.violation.path != right.violation.path { return left.violation.path < right.violation.path }
        return left.violation.description < right.violation.description
    }
}

extension [JobTrace] {
    fileprivate mutating func add(_ trace: JobTrace) {
        guard let known = firstIndex(where: { $0.namespace == trace.namespace }) else { return append(trace) }
        self[known].convertedCount += trace.convertedCount
        for job in trace.unfinished where !self[known].unfinished.contains(job) { self[known].unfinished.append(job) }
        for gap in trace.gaps where !self[known].gaps.contains(gap) { self[known].gaps.append(gap) }
    }
}
