import BSON
import DemoData
import Testing

@testable import Backfill

/// What a job keeps of a collection of any size: `Benchmarks/growth.md` has the figures.
@Suite struct GrowthTests {
    private func checkpoint(chunks: Int, gaps: Int = 0) -> BSONDocument {
        var progress = StateStore.Progress([:])
        for _ in 0..<chunks {
            progress.chunks += 1
            progress.modified += 5_000
            progress.walked += 5_000
        }
        progress.last = FlatOrder.document(at: chunks)["_id"]
        for number in 0..<gaps {
            let chunk = Chunk(after: progress.last, through: progress.last ?? .null)
            progress.note(
                UnjournaledChunk(sequence: Int64(number), phase: 0, chunk: chunk, changed: 5_001, journaled: 5_000))
        }
        return StateStore.checkpoint(progress)
    }

    @Test func aCheckpointIsAsLargeAfterTenMillionChunksAsAfterTen() {
        let few = checkpoint(chunks: 10).bytes.count
        let many = checkpoint(chunks: 10_000_000).bytes.count
        // Two sums that outgrew 32 bits, one of them twice in it: no more.
        #expect(many - few <= 12)
        #expect(many < 1_024)
    }

    @Test func ofChunksWithAGapTheNewestThousandAreKept() throws {
        let (most, more) = (checkpoint(chunks: 1, gaps: 1_000), checkpoint(chunks: 1, gaps: 3_000))
        let kept = more["unjournaled"]?.document?["$literal"]?.document?.values.compactMap(UnjournaledChunk.init) ?? []
        #expect(kept.map(\.sequence) == Array(2_000..<3_000))
        #expect(more.bytes.count == most.bytes.count)
        #expect(more.bytes.count < 256 << 10)
    }

    /// The journal's bytes for each of 20,000 documents whose field becomes a text.
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
        // Of 20 values each has a group, and a document takes its _id; of one value each, a group of its own.
        #expect(try journaled("quantity") < 40)
        #expect(try journaled("serial") < 200)
    }
}
