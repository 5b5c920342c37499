import BSON

/// The random decisions about one document, which determine both its content and its flaws.
protocol DemoRecipe {
    /// The document's `_id`.
    var id: BSONValue { get }
    /// The document that the random decisions determine.
    var document: BSONDocument { get }
    /// Returns the findings that a check of the document under a schema must report.
    func flaws(against version: DemoVersion) -> [DemoFlaw]
}

extension BSONBuilder {
    /// Appends a field that is present or null; appends nothing for a missing field.
    mutating func append(_ name: String, _ presence: Presence, _ value: @autoclosure () -> BSONValue) {
        switch presence {
        case .present: append(name, value())
        case .missing: break
        case .null: append(name, .null)
        }
    }
}

extension BSONValue {
    /// Returns a decimal amount from a number of cents.
    static func cents(_ amount: Int) -> BSONValue {
        .decimal(Decimal128(high: UInt64(6176 - 2) << 49, low: UInt64(amount)))
    }

    /// Returns the ObjectId of a document that was created `index` minutes after a fixed day.
    static func objectID(at index: Int, of collection: UInt32) -> BSONValue {
        let seconds = UInt64(1_577_836_800 + index * 60)
        return .objectID(
            ObjectID(high: seconds << 32 | 0x5EA5_1DE0 | UInt64(collection), low: 0x7C00_0000 | UInt32(index)))
    }

    /// Returns the start of a day in UTC, by the day's number; day 0 is 1940-01-01.
    static func day(_ number: Int) -> BSONValue { .date(milliseconds: -946_771_200_000 + Int64(number) * 86_400_000) }
}
