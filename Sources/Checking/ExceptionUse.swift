/// What became of the operator's exceptions in a check.
public struct ExceptionUse: Hashable, Sendable {
    /// The file that states them.
    public var file: String
    /// Those that hold and cover a finding, in the file's order.
    public var matched: [FindingException]
    /// Those that hold, and cover nothing that was found.
    public var unmatched: [FindingException]
    /// Those that no longer hold: each is a finding itself.
    public var expired: [FindingException]

    /// Joins the parts.
    public init(
        file: String, matched: [FindingException], unmatched: [FindingException], expired: [FindingException]
    ) {
        (self.file, self.matched, self.unmatched, self.expired) = (file, matched, unmatched, expired)
    }

    /// Sorts the exceptions by what the collections' groups say of them.
    /// - Parameter today: The day in UTC, as `YYYY-MM-DD`.
    public init(file: String, _ exceptions: [FindingException], in collections: [CheckReport.Collection], today: String)
    {
        self.file = file
        let used = Set(collections.flatMap { $0.groups.compactMap(\.exception) })
        expired = exceptions.filter { $0.isExpired(on: today) }
        let holding = exceptions.filter { !$0.isExpired(on: today) }
        matched = holding.filter(used.contains)
        unmatched = holding.filter { !used.contains($0) }
    }
}
