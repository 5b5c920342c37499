/// The number of documents to ask the server for, so that a batch takes a few mebibytes of memory.
///
/// Without a number that suits the documents' size, the server sends batches of up to 16 MiB to each thread.
package struct BatchSize: Sendable {
    private static let bytes = 4 << 20
    private static let first = 32

    private let most: Int
    /// The most documents of the next batch.
    package private(set) var documents: Int

    /// Creates the size of the first batch.
    /// - Parameter most: the most documents of any batch.
    package init(most: Int) { (self.most, documents) = (most, min(most, Self.first)) }

    /// Adapts the next batch to documents that were read, and their bytes.
    package mutating func adapt(to count: Int, bytes: Int) {
        documents = max(1, min(most, count * Self.bytes / max(1, bytes)))
    }
}
