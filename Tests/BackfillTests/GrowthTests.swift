import BSON
import DemoData
import JobState
import Testing

@testable import Jobs

/// Tests the sizes of a job's checkpoint and journal for large collections; `Benchmarks/growth.md` has the numbers.
@Suite struct GrowthTests {
    private func checkpoint(chunks: Int) -> BSONDocument {
        var progress = Progress([:])
        progress.begin()
        var chunk = Progress.Chunk()
        (chunk.documents, chunk.modified, chunk.updates, chunk.journaled) = (5_000, 5_000, 5_000, 1)
        chunk.last = FlatOrder.document(at: chunks)["_id"]
        for _ in 0..<chunks { progress.add(chunk) }
        return RangeChange.checkpoint(chunk, after: progress)
    }

    @Test func aCheckpointIsAsLargeAfterTenMillionChunksAsAfterTen() {
        let few = checkpoint(chunks: 10).bytes.count
        let many = checkpoint(chunks: 10_000_000).bytes.count
        // After many chunks, the number of documents in the mark for the speed needs 64 bits instead of 32. The other
        // counts are those of the chunk, which the server adds to its sums.
        #expect(many - few <= 4)
        #expect(many < 2_048)
    }

    /// Returns the number of journal bytes per document, for a job that converts a field of 20,000 documents to text.
    private func journaled(_ field: String) throws -> Int {
        var journal = ChunkJournal(touched: [field])
        for index in 0..<20_000 {
            let before = FlatOrder.document(at: index)
            let text = BSONValue.string("\(before[field]?.integer ?? 0)")
            try journal.add(before: before, after: try before.replacing(field, with: text))
        }
        #expect(journal.count == 20_000)
        return journal.bytes / journal.count
    }

    @Test func theJournalOfARetypeTakesLessThanTheDocuments() throws {
        // `quantity` has 20 different values, so the journal has 20 groups, each with the `_id`s of its documents.
        // Every `serial` is different, so each document has its own group.
        #expect(try journaled("quantity") < 40)
        #expect(try journaled("serial") < 200)
    }
}
