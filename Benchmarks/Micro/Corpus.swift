import BSON
import DemoData

/// Documents side by side in one buffer, as a batch of the server's or a file holds them.
struct Corpus {
    private(set) var bytes: [UInt8] = []
    /// Where each document begins, and where the last one ends.
    private(set) var offsets = [0]

    var count: Int { offsets.count - 1 }

    /// Flat documents.
    /// - Parameter failing: every how many-th fails; `nil` for none.
    init(documents: Int, failing: Int? = nil) throws {
        bytes.reserveCapacity(documents * 330)
        offsets.reserveCapacity(documents + 1)
        for index in 0..<documents {
            var document = FlatOrder.document(at: index)
            if let failing, index % failing == 0 { document = try document.flawed(index / failing) }
            bytes += document.bytes
            offsets.append(bytes.count)
        }
    }

    /// Lends every document.
    @inline(__always)
    func forEach(_ body: (borrowing BSONView) throws(BSONError) -> Void) throws(BSONError) {
        let span = unsafe bytes.span.bytes
        for index in 0..<count {
            try body(BSONView(span.extracting(offsets[index]..<offsets[index + 1])))
        }
    }
}

extension BSONDocument {
    /// A flat document that fails in one of 20 ways: ten fields of a wrong type, five required ones null, or missing.
    fileprivate func flawed(_ number: Int) throws -> BSONDocument {
        let required = ["customer", "status", "total", "placed", "address"]
        let others = ["email", "quantity", "serial", "isPaid", "tags"]
        let way = number % 20
        if way < 10 { return try replacing((required + others)[way], with: .decimal(Decimal128(high: 0, low: 1))) }
        return way < 15 ? try replacing(required[way - 10], with: .null) : try removing(required[way - 15])
    }
}
