import BSON

/// The rate at which a consumer of a run's changes, such as a sync engine, can process them.
///
/// A run that is faster only makes the consumer's queue longer.
package struct ConsumerRate: Hashable, Sendable {
    /// The largest number of changed documents that the consumer takes in a second; `nil` for no limit.
    package var documents: Int?
    /// The largest size in bytes of the changed documents that the consumer takes in a second; `nil` for no limit.
    package var bytes: Int?

    /// Creates a rate; without arguments, there is no limit.
    package init(documents: Int? = nil, bytes: Int? = nil) { (self.documents, self.bytes) = (documents, bytes) }

    /// The consumers whose rates are known, by the names that job files use.
    ///
    /// PowerSync replicates 2,000 to 4,000 small rows, or 5 MB, per second and instance. Source: powersync-docs,
    /// resources/performance-and-limits.mdx.
    package static let known = [(name: "powersync", rate: ConsumerRate(documents: 2_000, bytes: 5_000_000))]

    /// Whether neither the documents nor the bytes are limited.
    package var isUnlimited: Bool { self == ConsumerRate() }

    /// Returns the seconds that the consumer takes for a number of documents.
    /// - Parameter size: the average document's size in bytes; `nil` if it is not known.
    package func seconds(for count: Int, size: Int?) -> Double {
        let byCount = documents.map { Double(count) / Double($0) } ?? 0
        let byBytes = bytes.flatMap { bytes in size.map { Double(count) * Double($0) / Double(bytes) } } ?? 0
        return max(byCount, byBytes)
    }
}

extension ConsumerRate: CustomStringConvertible {
    /// The rate in words, such as `2,000 documents and 5,000,000 bytes a second`.
    package var description: String {
        [documents.map { "\($0.grouped) documents" }, bytes.map { "\($0.grouped) bytes" }].compactMap(\.self)
            .joined(separator: " and ") + " a second"
    }
}
