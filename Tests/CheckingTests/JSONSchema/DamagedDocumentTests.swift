import BSON
import Proving
import Testing

@Suite("Damaged documents")
struct DamagedDocumentTests {
    @Test("are an error or get some verdict, and both passes say the same", arguments: [1, 2, 3] as [UInt64])
    func flippedBytes(seed: UInt64) {
        var generator = CaseGenerator(seed: seed)
        var random = Randomness(seed: seed)
        var (damaged, differing) = (0, 0)
        for _ in 0..<150 {
            let group = generator.next()
            let schema = JudgingSchema(group.schema)
            for document in group.documents {
                var bytes = document.bytes
                for _ in 0..<3 {
                    // The length and the end of the whole document are not changed, because the document could not be
                    // read otherwise.
                    let position = Int.random(in: 4..<max(5, bytes.count - 1), using: &random)
                    bytes[position] = UInt8.random(in: 0...255, using: &random)
                }
                guard let changed = try? BSONDocument(bytes: bytes) else { continue }
                damaged += 1
                if case .none(let reason) = schema.answer(for: changed), reason.hasPrefix("the two passes") {
                    differing += 1
                }
            }
        }
        #expect(damaged > 1_000)
        // The quick check ends at its first finding, so it might not reach damage that the full check finds.
        // `differing` does not count such a document.
        #expect(differing == 0)
    }
}
