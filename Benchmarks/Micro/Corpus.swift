import BSON
import DemoData

/// Documents in one buffer, one after another, as in a batch from the server or in a `.bson` file.
struct Corpus {
    private(set) var bytes: [UInt8] = []
    /// The offsets at which the documents begin, followed by the offset at which the last one ends.
    private(set) var offsets = [0]

    var count: Int { offsets.count - 1 }

    /// Makes documents of ``FlatOrder``.
    /// - Parameter isFlawed: whether a tenth of the documents fail `Benchmarks/flat/strict.json`, with 20 different
    ///   flaws.
    init(documents: Int, isFlawed: Bool = false) {
        bytes.reserveCapacity(documents * 330)
        offsets.reserveCapacity(documents + 1)
        for index in 0..<documents {
            bytes += FlatOrder.document(at: index, isFlawed: isFlawed).bytes
            offsets.append(bytes.count)
        }
    }

    /// Passes every document to `body`.
    @inline(__always)
    func forEach(_ body: (borrowing BSONView) throws(BSONError) -> Void) throws(BSONError) {
        let span = unsafe bytes.span.bytes
        for index in 0..<count {
            try body(BSONView(span.extracting(offsets[index]..<offsets[index + 1])))
        }
    }
}
