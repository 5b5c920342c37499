public import BSON
public import ServerSchema

/// The largest number or share of documents that may fail without making a check fail.
public enum FailingLimit: Hashable, Sendable {
    /// A number of documents.
    case documents(Int)
    /// A share of the documents that were judged, in percent.
    case percent(Double)

    /// Reads a number of documents, such as `500`, or a share, such as `0.1%`; any other text gives `nil`.
    public init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .percent(percent)
        } else {
            guard let count = Int(text), count >= 0 else { return nil }
            self = .documents(count)
        }
    }

    /// Whether the limit allows `failing` of `judged` documents to fail.
    func accepts(_ failing: Int, of judged: Int) -> Bool {
        switch self {
        case .documents(let most): failing <= most
        // The factor allows for rounding: the `Double` of 0.7, for example, is a little less than 0.7, so its products
        // may be a little too small.
        case .percent(let percent): Double(failing) * 100 <= percent * Double(judged) * (1 + 1e-12)
        }
    }
}

extension FailingLimit: CustomStringConvertible {
    /// The limit as an operator writes it.
    public var description: String {
        switch self {
        case .documents(let count): "\(count)"
        case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
        }
    }
}

/// A limit for the failing documents of one collection, or only for those that break one rule.
public struct FailingThreshold: Hashable, Sendable {
    /// The collection, as the schema names it.
    public var namespace: Namespace
    /// The rule whose failing documents are limited; `nil` for all rules without a threshold of their own.
    public var rule: RuleCode?
    /// The largest number or share of documents that may fail.
    public var limit: FailingLimit
    /// The position in the file that states the threshold.
    public var location: SourceLocation

    /// Creates a threshold from its parts.
    public init(namespace: Namespace, rule: RuleCode?, limit: FailingLimit, location: SourceLocation) {
        (self.namespace, self.rule, self.limit, self.location) = (namespace, rule, limit, location)
    }
}

/// A limit for failing documents, with the number of failing documents that count against it.
public struct FailingLimitUse: Hashable, Sendable {
    /// The collection; `nil` for the limit of the check as a whole.
    public var namespace: Namespace?
    /// The rule whose failing documents are limited; `nil` for all rules without a threshold of their own.
    public var rule: RuleCode?
    /// The largest number or share of documents that may fail.
    public var limit: FailingLimit
    /// The number of documents that fail and count against the limit.
    public var failing: Int
    /// The number of documents that were judged.
    public var judged: Int

    /// Whether more documents fail than the limit accepts.
    public var isExceeded: Bool { !limit.accepts(failing, of: judged) }
}

extension FailurePolicy {
    /// Whether the policy has a limit for failing documents: one for the whole check, or one for a collection or a
    /// rule.
    public var hasLimits: Bool { maximum != nil || !thresholds.isEmpty }

    /// Returns each limit with the number of documents that count against it.
    ///
    /// The limit for the check as a whole comes last. It is absent if every collection with judged documents has a
    /// limit of its own.
    ///
    /// A failing document counts against the threshold of each rule that it breaks. If a document breaks a rule without
    /// a threshold, it counts against the limit of its collection, or against the limit of the check if the collection
    /// has no limit.
    public func uses(in report: CheckReport) -> [FailingLimitUse] {
        var uses: [FailingLimitUse] = []
        var rest = FailingLimitUse(limit: maximum ?? .documents(0), failing: 0, judged: 0)
        for collection in report.collections where collection.isCounted {
            let own = thresholds.filter { $0.namespace == collection.namespace }
            for threshold in own {
                uses.append(
                    FailingLimitUse(
                        namespace: threshold.namespace, rule: threshold.rule, limit: threshold.limit,
                        failing: threshold.rule.map { failing(collection, by: $0) }
                            ?? failing(collection, except: own.compactMap(\.rule)), judged: collection.judgedCount))
            }
            guard !own.contains(where: { $0.rule == nil }) else { continue }
            rest.failing += failing(collection, except: own.compactMap(\.rule))
            rest.judged += collection.judgedCount
        }
        return rest.judged > 0 || uses.isEmpty ? uses + [rest] : uses
    }

    /// Whether the limit that applies to a group of findings is not exceeded.
    public func accepts(_ group: ViolationGroup, of collection: CheckReport.Collection, in report: CheckReport) -> Bool
    {
        let uses = uses(in: report)
        let own = uses.filter { $0.namespace == collection.namespace }
        let use =
            own.first { $0.rule == group.violation.rule } ?? own.first { $0.rule == nil }
            ?? uses.first { $0.namespace == nil }
        return use?.isExceeded == false
    }

    /// Returns the policy for another database: a threshold for a collection of `own` then applies to the collection
    /// with the same name in `database`.
    public func moved(from own: String, to database: String) -> FailurePolicy {
        var policy = self
        for index in policy.thresholds.indices {
            policy.thresholds[index].namespace = policy.thresholds[index].namespace.moved(from: own, to: database)
        }
        return policy
    }

    /// Returns how many documents of a collection fail because of a rule.
    ///
    /// A document that belongs to several groups of the rule's findings counts once for each of these groups.
    private func failing(_ collection: CheckReport.Collection, by rule: RuleCode) -> Int {
        collection.groups.reduce(0) { $0 + ($1.violation.rule == rule ? failing($1) : 0) }
    }

    /// Returns how many documents of a collection fail because of at least one rule that is not in `rules`.
    ///
    /// The result is never less than the exact number. It can be greater if documents have several findings of rules
    /// that are not in `rules`, or if the tally did not group all findings.
    private func failing(_ collection: CheckReport.Collection, except rules: [RuleCode]) -> Int {
        let counts = collection.counts.unexcepted
        let all =
            switch documents {
            case .none: 0
            case .new: counts.newlyFailing + (includesPossible ? counts.newlyPossible : 0)
            case .all: counts.certain + (includesPossible ? counts.possible : 0)
            }
        guard !rules.isEmpty, collection.overflowCount == 0 else { return all }
        return min(all, collection.groups.reduce(0) { $0 + (rules.contains($1.violation.rule) ? 0 : failing($1)) })
    }

    private func failing(_ group: ViolationGroup) -> Int {
        guard fails(group) else { return 0 }
        return documents == .new ? group.newCount ?? group.count : group.count
    }
}
