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
        let last = FlatOrder.document(at: chunks)["_id"]
        for _ in 0..<chunks { progress.add(documents: 5_000, modified: 5_000, updates: 5_000, last: last) }
        return RangeChange.checkpoint(progress)
    }

    @Test func aCheckpointIsAsLargeAfterTenMillionChunksAsAfterTen() {
        let few = checkpoint(chunks: 10).bytes.count
        let many = checkpoint(chunks: 10_000_000).bytes.count
        // After many chunks, three sums in the checkpoint need 64 bits instead of 32. One of them is stored twice, so
        // the checkpoint grows by at most four times four bytes.
        #expect(many - few <= 16)
        #expect(many < 1_024)
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
