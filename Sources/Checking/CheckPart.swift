/// One of the parts into which a check is divided: a share of each collection's documents.
///
/// The parts together hold every document exactly once. The `_id` of a document decides to which part it belongs; the
/// state database stores the `_id`s at which the parts are cut. Checks on different machines and at different times
/// therefore neither miss a document nor count one twice, even if other clients insert and remove documents in the
/// meantime.
public struct CheckPart: Hashable, Sendable {
    /// The number of the part, counted from 1.
    public let number: Int
    /// The number of parts into which the check is divided.
    public let count: Int

    /// The largest number of parts; with more, each part would be too small to be useful.
    public static let maximumCount = 1_000

    /// Creates a part; `nil` if `count` is not from 1 to ``maximumCount``, or `number` not from 1 to `count`.
    public init?(_ number: Int, of count: Int) {
        guard (1...Self.maximumCount).contains(count), (1...count).contains(number) else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// Parses a text such as `3/8`, which means part 3 of 8; `nil` for any other text.
    public init?(_ text: String) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1] else { return nil }
        self.init(number, of: count)
    }
}

extension CheckPart: CustomStringConvertible {
    /// The part as text, such as `3/8`.
    public var description: String { "\(number)/\(count)" }
}

/// The facts in a part's report that `check --join` needs to join it with the reports of the other parts.
public struct PartOfCheck: Hashable, Sendable {
    /// The part of the documents that the check read.
    public var part: CheckPart
    /// A digest of the schemas, of the settings by which documents are judged, and of the `_id`s at which the parts are
    /// cut.
    ///
    /// The reports of one check have equal digests.
    public var digest: String
    /// The setting that decides which findings make the check fail.
    public var policy: FailurePolicy

    /// Creates the facts about one part of a check.
    public init(_ part: CheckPart, digest: String, policy: FailurePolicy) {
        (self.part, self.digest, self.policy) = (part, digest, policy)
    }
}
