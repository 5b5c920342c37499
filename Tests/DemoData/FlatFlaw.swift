import BSON

/// A flaw that makes a document of ``FlatOrder`` fail a check against `Benchmarks/flat/strict.json` with `--strict`.
///
/// A document with one of the first thirteen flaws certainly does not sync. The other flaws break constraints, and it
/// is not documented whether documents with them sync.
public enum FlatFlaw: Int, CaseIterable, Sendable {
    case customerMissing, statusNull, addressMissing, cityMissing, cityNull
    case totalText, quantityText, placedText, paidNumber, serialText, addressText, tagsText, tagNumber
    case customerTooLong, customerTooShort, statusUnknown, emailMalformed, quantityTooLarge, totalNaN, tooManyTags

    /// Returns the flaw of the document at an index; `nil` for nine of ten documents.
    ///
    /// All flaws are equally frequent.
    public static func ofDocument(at index: Int) -> FlatFlaw? {
        let (tens, rest) = index.quotientAndRemainder(dividingBy: 10)
        // One document of every ten has a flaw. Its place among the ten varies, so that the flaws are not at the same
        // places in all batches.
        return rest == (tens &* 7) % 10 ? allCases[tens % allCases.count] : nil
    }

    /// Returns a field's value in a document with the flaw; `nil` if the flaw removes the field.
    func value(of name: String, for value: BSONValue) -> BSONValue? {
        switch (self, name) {
        case (.customerMissing, "customer"), (.addressMissing, "address"): nil
        case (.statusNull, "status"): .null
        case (.cityMissing, "address"): ["street": "1 Mill Lane", "country": "US"]
        case (.cityNull, "address"): ["street": "1 Mill Lane", "city": nil, "country": "US"]
        case (.totalText, "total"), (.quantityText, "quantity"), (.serialText, "serial"): "12"
        case (.placedText, "placed"): "2020-09-13T12:26:40Z"
        case (.paidNumber, "isPaid"): 1
        case (.addressText, "address"): "1 Mill Lane, Boston, US"
        case (.tagsText, "tags"): "agenda bicycle garden"
        case (.tagNumber, "tags"): ["agenda", 2, "garden"]
        case (.customerTooLong, "customer"): .string(String(repeating: "Ada Lovelace ", count: 6))
        case (.customerTooShort, "customer"): ""
        case (.statusUnknown, "status"): "lost"
        case (.emailMalformed, "email"): "no address"
        case (.quantityTooLarge, "quantity"): 1_000_000
        case (.totalNaN, "total"): .double(.nan)
        case (.tooManyTags, "tags"): .array(of: Array(repeating: "agenda", count: 12))
        default: value
        }
    }
}
