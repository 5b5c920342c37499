public import BSON

/// Documents for measurements: about 300 bytes, with one embedded object and one list.
///
/// The documents without a flaw fit `Benchmarks/flat/schema.json` and `Benchmarks/flat/strict.json`.
public enum FlatOrder {
    /// Returns the document at an index; the same index always gives the same document.
    ///
    /// - Parameter isFlawed: whether a tenth of the documents have a ``FlatFlaw``.
    public static func document(at index: Int, isFlawed: Bool = false) -> BSONDocument {
        let flaw = isFlawed ? FlatFlaw.ofDocument(at: index) : nil
        var builder = BSONBuilder()
        for (name, value) in fields(at: index) {
            guard let flaw else {
                builder.append(name, value)
                continue
            }
            if let value = flaw.value(of: name, for: value) { builder.append(name, value) }
        }
        return builder.finish()
    }

    private static func fields(at index: Int) -> [(String, BSONValue)] {
        var random = SplitMix64(collection: 7, index: index)
        let customer = "\(random.pick(Words.firstNames)) \(random.pick(Words.lastNames))"
        return [
            ("_id", .objectID(at: index, of: 7)), ("customer", .string(customer)),
            ("email", .string("customer\(index)@example.com")),
            ("status", .string(random.pick(["open", "paid", "sent"]))),
            ("total", .double(Double(random.below(100_000)) / 100)), ("quantity", .int(Int32(random.below(20)))),
            ("serial", .long(Int64(index))), ("placed", .date(milliseconds: 1_600_000_000_000 + Int64(index) * 1_000)),
            ("isPaid", .bool(random.chance(500))),
            (
                "address",
                [
                    "street": .string("\(random.below(200)) \(random.pick(Words.streets))"),
                    "city": .string(random.pick(Words.cities)), "country": "US",
                ]
            ),
            ("tags", .array(of: (0..<3).map { _ in .string(random.pick(Words.nouns)) })),
        ]
    }
}
