import BSON

/// Documents with `_id`s of many types, and with values to which ``steps`` apply in different ways.
enum KillDocuments {
    /// The steps of the job over these documents.
    static let steps = [
        #"convert: {field: age, to: int}"#,
        #"copy: {from: age, to: yearsSinceBirth}"#,
        #"default: {field: email, value: "none", when: missingOrNull}"#,
        #"default: {field: address.country, value: "US"}"#,
        #"convert: {field: score, to: string, into: scoreText}"#,
    ]

    static func document(_ number: Int) -> BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", id(number))
        builder.append("name", .string(String(repeating: "n", count: number % 50)))
        if let age = age(number) { builder.append("age", age) }
        switch number % 5 {
        case 0: builder.append("email", nil)
        case 1: builder.append("email", .string("p\(number)@example.org"))
        case 2: builder.append("email", [.string("in an array"), nil])
        default: break
        }
        switch number % 4 {
        case 0: builder.append("address", ["city": "Oslo"])
        case 1: builder.append("address", ["country": "NO", "city": "Oslo"])
        case 2: builder.append("address", [:])
        default: break
        }
        builder.append("score", number % 3 == 0 ? .double(Double(number) / 4) : .long(Int64(number) << 33))
        return builder.finish()
    }

    /// Returns a different `_id` for each number; the numeric types are interleaved.
    static func id(_ number: Int) -> BSONValue {
        switch number {
        case 0: return .minKey
        case 1: return .maxKey
        case 2: return .null
        case 3: return .bool(false)
        case 4: return .bool(true)
        case 5: return .double(.infinity)
        case 6: return .double(-.infinity)
        default: break
        }
        switch number % 11 {
        case 0: return .int(Int32(number))
        case 1: return .long(Int64(number) - 3_000)
        case 2: return .double(Double(number) + 0.5)
        case 3: return .decimal(Decimal128(Int64(number)))
        case 4: return .string("id \(number)")
        case 5: return .objectID(ObjectID(high: UInt64(number) << 40, low: 7))
        case 6: return ["region": .int(Int32(number % 7)), "n": .integer(number)]
        case 7: return .date(milliseconds: Int64(number - 5_000) * 86_400_000)
        case 8: return .binary(subtype: 4, bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 3 * 8)) })
        case 9: return .timestamp(UInt64(number) << 32)
        default: return .string("$\(number)")
        }
    }

    private static func age(_ number: Int) -> BSONValue? {
        switch number % 7 {
        case 0: nil
        case 1: .null
        case 2: .string(String(number % 120))
        case 3: .double(Double(number % 120))
        case 4: .long(Int64(number % 120))
        case 5: .decimal(Decimal128(Int64(number % 120)))
        default: .int(Int32(number % 120))
        }
    }
}
