import BSON

/// A chunk that is to be run, and about how many documents it has.
struct Piece {
    var chunk: Chunk
    /// `nil` where nobody has counted.
    var documents: Int?

    /// A list of documents.
    init(listing ids: [BSONValue]) { self.init(Chunk(listing: ids), documents: ids.count) }

    init(_ chunk: Chunk, documents: Int?) {
        self.chunk = chunk
        self.documents = chunk.isAlone ? 1 : documents
    }

    /// What is left of a list once a part of it was run; `nil` when nothing is.
    func rest(after done: Chunk) -> Piece? {
        guard let all = chunk.listed, let done = done.listed else { return nil }
        let isDone = Set(done)
        let rest = all.filter { !isDone.contains($0) }
        return rest.isEmpty ? nil : Piece(listing: rest)
    }

    /// A list in parts of so many documents.
    func parts(of count: Int) -> [Piece] {
        let ids = chunk.listed ?? []
        return stride(from: 0, to: ids.count, by: count).map {
            Piece(listing: Array(ids[$0..<min($0 + count, ids.count)]))
        }
    }
}
