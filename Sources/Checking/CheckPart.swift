/// A share of the documents of each collection, of several that hold every document once between them.
///
/// A document's share follows from its `_id` and the `_id`s between the shares, which the state database holds: runners
/// at different times and on different machines neither miss a document nor count one twice, whatever is inserted and
/// removed meanwhile.
public struct CheckPart: Hashable, Sendable {
    /// Which, from 1.
    public let number: Int
    /// Of how many.
    public let count: Int

    /// More would divide nothing worth dividing.
    public static let maximumCount = 1_000

    /// Names a share; `nil` when there is none such.
    public init?(_ number: Int, of count: Int) {
        guard (1...Self.maximumCount).contains(count), (1...count).contains(number) else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// Reads `3/8`.
    public init?(_ text: String) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1] else { return nil }
        self.init(number, of: count)
    }
}

extension CheckPart: CustomStringConvertible {
    /// `3/8`.
    public var description: String { "\(number)/\(count)" }
}

/// What a check of a part is joined to the others by.
public struct PartOfCheck: Hashable, Sendable {
    /// Which documents it read.
    public var part: CheckPart
    /// What tells schemas, and how documents are judged by them, apart.
    public var digest: String
    /// Which findings fail the check.
    public var policy: FailurePolicy

    /// Joins the parts.
    public init(_ part: CheckPart, digest: String, policy: FailurePolicy) {
        (self.part, self.digest, self.policy) = (part, digest, policy)
    }
}
