import BSON
import Jobs

/// Decides how many documents the next chunk has: usually as many as ``ChunkSize`` says.
///
/// A chunk can have fewer documents, for example if the limit of bytes ended its read. If such a chunk takes too long,
/// the next chunk has half as many documents. The number then doubles with each chunk until it reaches the size of
/// ``ChunkSize`` again.
struct ChunkPacing {
    private var size: ChunkSize
    /// The reduced number of documents in the next chunk, after a chunk with fewer documents than ``size`` took too
    /// long; `nil` otherwise, and once the number has grown back to ``size``.
    private var trial: Int?
    /// The number of bytes of documents at which the read of a chunk ends.
    private(set) var bytes: Int
    /// How long the last chunk kept the documents of users locked; `nil` if it wrote none.
    private var writing: Duration?

    init(_ limits: Job.Limits, averageSize: Int?) {
        size = ChunkSize(limits, averageSize: averageSize)
        bytes = limits.mostBytes
    }

    var documents: Int { min(trial ?? .max, size.documents) }

    var amount: ReadAmount { ReadAmount(documents: documents, bytes: bytes) }

    mutating func adopt(_ limits: Job.Limits) {
        size.adopt(limits)
        bytes = limits.mostBytes
    }

    /// Notes how long a chunk took from its first write to a document of the user to the reply to its commit.
    mutating func note(_ writing: Duration) { self.writing = writing }

    /// Halves the size of the next chunk, after a chunk of `documents` documents took too long.
    mutating func halve(from documents: Int) {
        if documents < size.documents { trial = max(1, documents / 2) } else { size.shrink() }
    }

    /// Adapts the size to a chunk that was written.
    /// - Parameters:
    ///   - documents: how many documents the chunk had.
    ///   - isWhole: whether all documents of the chunk are done.
    /// - Returns: whether ``ChunkSize/isStuck`` has just become `true`: even a chunk of one document takes more bytes
    ///   or time than the limits of a chunk allow.
    mutating func learn(from documents: Int, isWhole: Bool) -> Bool {
        guard let time = writing.take() else { return false }
        let wasStuck = size.isStuck
        if isWhole, trial == nil { size.learn(from: documents, time: time) }
        trial = trial.flatMap { $0 * 2 < size.documents ? $0 * 2 : nil }
        return size.isStuck && !wasStuck
    }
}
