/// One of several shares of each collection's documents; the shares together hold every document exactly once.
///
/// The `_id` of a document decides its share: the state database holds the `_id`s between the shares. Checks on
/// different machines and at different times therefore neither miss a document nor count one twice, even if other
/// clients insert and remove documents in the meantime.
public struct CheckPart: Hashable, Sendable {
    /// The number of the share, from 1.
    public let number: Int
    /// The number of shares.
    public let count: Int

    /// The largest number of shares; with more, each share would be too small to be useful.
    public static let maximumCount = 1_000

    /// Creates the share of that number; `nil` if the numbers are out of range.
    public init?(_ number: Int, of count: Int) {
        guard (1...Self.maximumCount).contains(count), (1...count).contains(number) else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// Parses a text such as `3/8`.
    public init?(_ text: String) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1] else { return nil }
        self.init(number, of: count)
    }
}

extension CheckPart: CustomStringConvertible {
    /// The share as text, such as `3/8`.
    public var description: String { "\(number)/\(count)" }
}

/// The facts by which the report of one part is joined with the reports of the others.
public struct PartOfCheck: Hashable, Sendable {
    /// The share of the documents that the check read.
    public var part: CheckPart
    /// A digest of the schemas, of the settings by which documents are judged, and of the bounds between the parts.
    public var digest: String
    /// The findings that fail the check.
    public var policy: FailurePolicy

    /// Creates an instance from its parts.
    public init(_ part: CheckPart, digest: String, policy: FailurePolicy) {
        (self.part, self.digest, self.policy) = (part, digest, policy)
    }
}
