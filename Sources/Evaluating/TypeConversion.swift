import BSON
import Glibc

/// The conversions of the operator `$convert`.
///
/// A conversion whose result may depend on the server's version, such as from text to date, is not evaluated.
enum TypeConversion {
    /// Returns the value converted to the type of this name, such as `int`; `nil` if the server cannot convert the
    /// value.
    static func converted(_ value: BSONValue, to name: String) throws(NotEvaluated) -> BSONValue? {
        switch name {
        case "string": try text(value)
        case "int": try whole(value).flatMap { Int32(exactly: $0) }.map { .int($0) }
        case "long":
            if case .date(let milliseconds) = value { .long(milliseconds) } else { try whole(value).map { .long($0) } }
        case "double": try double(value)
        case "decimal": try decimal(value)
        case "bool": try bool(value)
        case "date": try date(value)
        case "objectId": try objectID(value)
        default: throw NotEvaluated(.operation("$convert to \(name)"))
        }
    }

    private static func text(_ value: BSONValue) throws(NotEvaluated) -> BSONValue? {
        switch value {
        case .string: return value
        case .int(let number): return .string("\(number)")
        case .long(let number): return .string("\(number)")
        case .bool(let flag): return .string(flag ? "true" : "false")
        case .objectID(let id): return .string("\(id)")
        case .decimal(let number): return .string("\(number)")
        case .date(let milliseconds):
            // For years outside 0 to 9999, the server ends the command with an error.
            guard (-62_167_219_200_000..<253_402_300_800_000).contains(milliseconds) else {
                throw NotEvaluated(.failure)
            }
            return .string(ServerTime(milliseconds: milliseconds).iso8601WithMilliseconds)
        case .double(let number):
            // MongoDB 6.0.5 writes fractions, and numbers from a million on, with six significant digits, and later
            // servers write them with seventeen. Only whole numbers below a million are therefore converted here.
            guard number == number.rounded(), abs(number) < 1_000_000 else { throw NotEvaluated(.version) }
            return .string(formatted("%g", number))
        case .invalidString, .binary: throw NotEvaluated(.version)
        default: return nil
        }
    }

    /// Returns the number as the C function `printf` writes it in this format.
    private static func formatted(_ format: String, _ number: Double) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = unsafe withVaList([number]) { unsafe vsnprintf(&buffer, buffer.count, format, $0) }
        return String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a value as a whole number without its fraction; `nil` if it does not fit a 64-bit integer, or the server
    /// cannot convert it.
    private static func whole(_ value: BSONValue) throws(NotEvaluated) -> Int64? {
        switch value {
        case .int(let number): return Int64(number)
        case .long(let number): return number
        case .bool(let flag): return flag ? 1 : 0
        case .double(let number):
            // The conversion drops the fraction.
            return number >= -0x1p63 && number < 0x1p63 ? Int64(number) : nil
        case .decimal(let number): return try whole(number)
        case .string(let text): return try spelling(of: text) == .whole ? Int64(text) : nil
        case .invalidString: throw NotEvaluated(.version)
        default: return nil
        }
    }

    /// Returns a decimal as a whole number without its fraction; `nil` if it does not fit a 64-bit integer.
    private static func whole(_ number: Decimal128) throws(NotEvaluated) -> Int64? {
        guard number.isFinite else { return nil }
        let text = number.description
        guard !text.utf8.contains(where: isPower) else {
            guard let whole = Int64(exactly: number) else { throw NotEvaluated(.version) }
            return whole
        }
        return Int64(text.prefix { $0 != "." })
    }

    private static func double(_ value: BSONValue) throws(NotEvaluated) -> BSONValue? {
        switch value {
        case .double: return value
        case .int(let number): return .double(Double(number))
        case .long(let number): return .double(Double(number))
        case .bool(let flag): return .double(flag ? 1 : 0)
        case .date(let milliseconds): return .double(Double(milliseconds))
        case .string(let text):
            guard try spelling(of: text) != .none else { return nil }
            return .double(try double(spelled: text))
        case .decimal(let number):
            guard number.isFinite else { throw NotEvaluated(.version) }
            return .double(try double(spelled: number.description))
        case .invalidString: throw NotEvaluated(.version)
        default: return nil
        }
    }

    /// Returns the double nearest to the number that a text spells.
    ///
    /// Throws if that number is too large or too small for a normal double, or is a zero with an exponent, because
    /// servers read such texts differently.
    private static func double(spelled text: String) throws(NotEvaluated) -> Double {
        guard let number = Double(text), number.isFinite, !number.isSubnormal,
            number != 0 || !text.utf8.contains(where: isPower)
        else { throw NotEvaluated(.version) }
        return number
    }

    private static func isPower(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "e") }

    private static func decimal(_ value: BSONValue) throws(NotEvaluated) -> BSONValue? {
        switch value {
        case .decimal: return value
        case .int(let number): return .decimal(Decimal128(Int64(number)))
        case .long(let number): return .decimal(Decimal128(number))
        case .bool(let flag): return .decimal(Decimal128(flag ? 1 : 0))
        case .date(let milliseconds): return .decimal(Decimal128(milliseconds))
        case .string(let text):
            guard try spelling(of: text) != .none else { return nil }
            guard text.utf8.count <= 30, let number = Decimal128(text) else { throw NotEvaluated(.version) }
            return .decimal(number)
        case .double(let number): return .decimal(try decimal(roughly: number))
        case .invalidString: throw NotEvaluated(.version)
        default: return nil
        }
    }

    /// Returns the double as a decimal with 15 significant digits, as the server converts it.
    private static func decimal(roughly number: Double) throws(NotEvaluated) -> Decimal128 {
        guard number.isFinite, number != 0, let decimal = Decimal128(formatted("%.14e", number)) else {
            throw NotEvaluated(.version)
        }
        return decimal
    }

    private static func bool(_ value: BSONValue) throws(NotEvaluated) -> BSONValue? {
        switch value {
        case .bool: value
        case .string, .invalidString, .objectID, .date: .bool(true)
        case .int(let number): .bool(number != 0)
        case .long(let number): .bool(number != 0)
        case .double(let number): .bool(number != 0)
        case .decimal(let number): .bool(!number.isZero)
        default: nil
        }
    }

    private static func date(_ value: BSONValue) throws(NotEvaluated) -> BSONValue? {
        switch value {
        case .date: return value
        case .long(let number): return .date(milliseconds: number)
        case .double(let number):
            return number >= -0x1p63 && number < 0x1p63 ? .date(milliseconds: Int64(number)) : nil
        case .objectID(let id): return .date(milliseconds: Int64(id.high >> 32) * 1_000)
        // These types are not converted to a date here, because servers differ. MongoDB 4.4, for example, converts no
        // timestamp to a date, but later versions do.
        case .timestamp, .string, .invalidString, .decimal: throw NotEvaluated(.version)
        default: return nil
        }
    }

    private static func objectID(_ value: BSONValue) throws(NotEvaluated) -> BSONValue? {
        switch value {
        case .objectID: return value
        case .string(let text): return ObjectID(text).map { .objectID($0) }
        default: return nil
        }
    }

    /// The form of a number in a text: not a number, a whole number, or a number with a fraction or an exponent.
    private enum Spelling { case none, whole, fraction }

    /// Returns the form of the number in a text; `.none` if every server refuses to read the text as a number.
    ///
    /// Throws for a text that only some servers may read as a number.
    private static func spelling(of text: String) throws(NotEvaluated) -> Spelling {
        var rest = Array(text.utf8)[...]
        guard let first = rest.first else { return .none }
        if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        func digits() -> Int {
            let count = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.count
            rest = rest.dropFirst(count)
            return count
        }
        let whole = digits()
        if rest.isEmpty { return whole > 0 ? .whole : .none }
        guard whole > 0, rest.first == UInt8(ascii: ".") || isPower(rest[rest.startIndex]) else {
            // The next byte may begin a named number such as `Infinity`, the prefix of another base, a fraction or
            // white space. Some servers may read such a text as a number. Every server refuses a text with any other
            // byte here.
            guard let next = rest.first, !"xXiInN. \t\n".utf8.contains(next) else { throw NotEvaluated(.version) }
            return .none
        }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { throw NotEvaluated(.version) }
        }
        if let next = rest.first, isPower(next) {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard digits() > 0 else { throw NotEvaluated(.version) }
        }
        guard rest.isEmpty else { throw NotEvaluated(.version) }
        return .fraction
    }
}
