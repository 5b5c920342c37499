import BSON
import Foundation
import ServerSchema

/// The expected result of the step `convert` for a value, computed without the server.
enum ConversionOutcome: Hashable {
    /// The value is missing, null or undefined, or already has the target type.
    case untouched
    /// The step converts the value to the associated value.
    case becomes(BSONValue)
    /// The step skips the document, and the report gives this reason.
    case reported(String)

    init(of value: BSONValue?, to type: SchemaType) {
        guard let value, value != .null, value != .undefined, value.type.description != type.rawValue else {
            self = .untouched
            return
        }
        self = Self.converted(value, to: type).map { .becomes($0) } ?? .reported(Self.reason(value, to: type))
    }

    private static func converted(_ value: BSONValue, to type: SchemaType) -> BSONValue? {
        switch type {
        case .string: text(value).map { .string($0) }
        case .int: whole(value).flatMap { Int32(exactly: $0) }.map { .int($0) }
        case .long: (whole(value) ?? milliseconds(value)).map { .long($0) }
        case .double: double(value).map { .double($0) }
        case .decimal: decimal(value).map { .decimal($0) }
        case .bool: bool(value).map { .bool($0) }
        case .date: date(value).map { .date(milliseconds: $0) }
        case .objectId: objectID(value).map { .objectID($0) }
        default: nil
        }
    }

    private static func text(_ value: BSONValue) -> String? {
        switch value {
        case .int(let number): String(number)
        case .long(let number): String(number)
        case .bool(let flag): flag ? "true" : "false"
        case .objectID(let id): id.description
        case .decimal(let number): number.description
        case .date(let milliseconds): ISODate(milliseconds: milliseconds)?.text
        case .double(let number): text(number)
        default: nil
        }
    }

    /// Returns a double as text; `nil` if the step skips it.
    ///
    /// The text of a whole number of at most 64 bits has all digits. The text of any other number has up to 15 digits.
    /// The step skips a number if it is subnormal, if its text would read back as another double, or if its text would
    /// have more than six digits and an exponent.
    private static func text(_ number: Double) -> String? {
        if let whole = whole(.double(number)) { return String(whole) }
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        guard !number.isSubnormal else { return nil }  // the server cannot parse its own text of such a number
        let short = String(format: "%g", number)
        if Double(short) == number { return short }
        guard abs(number) >= 1e-6 else { return nil }
        let long = String(format: "%.15g", number)
        return Double(long) == number && !long.contains("e") ? long : nil
    }

    /// Returns the 64-bit integer that is equal to a value; `nil` if there is no such integer.
    ///
    /// `false` and `true` count as 0 and 1. The number -0 does not count as an integer, nor does a text in an unusual
    /// form, such as "+36".
    private static func whole(_ value: BSONValue) -> Int64? {
        switch value {
        case .int(let number): Int64(number)
        case .long(let number): number
        case .double(let number): number == 0 && number.sign == .minus ? nil : Int64(exactly: number)
        case .decimal(let number): number.isZero && number.isNegative ? nil : Int64(exactly: number)
        case .bool(let flag): flag ? 1 : 0
        case .string(let text):
            Int64(text.withoutFractionZeros).flatMap {
                String($0) == text.withoutFractionZeros ? $0 : nil
            }
        default: nil
        }
    }

    private static func milliseconds(_ value: BSONValue) -> Int64? {
        if case .date(let milliseconds) = value { milliseconds } else { nil }
    }

    private static func double(_ value: BSONValue) -> Double? {
        switch value {
        case .decimal(let number):
            nearest(number).flatMap { decimal(.double($0))?.compared(to: number) == .equal ? $0 : nil }
        case .string(let text):
            Double(text).flatMap {
                self.text($0) == text.withoutFractionZeros || text.withoutFractionZeros == "-0" ? $0 : nil
            }
        default: (whole(value) ?? milliseconds(value)).flatMap { Double(exactly: $0) }
        }
    }

    /// Returns the double nearest to a decimal; `nil` if the decimal is too large for a double, or rounds to 0 without
    /// being 0.
    private static func nearest(_ number: Decimal128) -> Double? {
        if number.isNaN { return .nan }
        if number.isInfinite { return number.isNegative ? -.infinity : .infinity }
        guard let double = Double(number.description), double.isFinite else { return nil }
        return double == 0 && !number.isZero ? nil : double
    }

    private static func decimal(_ value: BSONValue) -> Decimal128? {
        switch value {
        case .string(let text): Decimal128(text).flatMap { $0.description == text ? $0 : nil }
        case .double(let number) where whole(value) == nil:
            number.isFinite ? fifteenDigits(number).flatMap(shortest) : Decimal128(text(number) ?? "")
        default: (whole(value) ?? milliseconds(value)).map { Decimal128($0) }
        }
    }

    /// Returns the decimal without the zeros at the end of its fraction.
    private static func shortest(_ number: Decimal128) -> Decimal128? {
        let text = number.description
        guard text.contains("."), !text.contains("E") else { return number }
        return Decimal128(String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed()))
    }

    /// Returns the decimal with 15 digits into which the server converts a double.
    ///
    /// `nil` if the double is subnormal, or if the decimal would convert back to another double.
    private static func fifteenDigits(_ number: Double) -> Decimal128? {
        guard number != 0 else { return Decimal128("-0") }
        guard !number.isSubnormal else { return nil }
        let text = String(format: "%.14e", number)
        return Double(text) == number ? Decimal128(text) : nil
    }

    private static func bool(_ value: BSONValue) -> Bool? {
        if case .string(let text) = value { return ["true": true, "1": true, "false": false, "0": false][text] }
        return switch whole(value) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    private static func date(_ value: BSONValue) -> Int64? {
        switch value {
        case .string(let text): ISODate(text)?.milliseconds
        case .bool: nil
        default: whole(value)
        }
    }

    private static func objectID(_ value: BSONValue) -> ObjectID? {
        guard case .string(let text) = value, let id = ObjectID(text), id.description == text else { return nil }
        return id
    }
}

extension String {
    /// The text without the zeros at the end of a fraction, and without the point if the fraction is zero.
    ///
    /// A text that is not a number with a point is unchanged.
    var withoutFractionZeros: String {
        let parts = (hasPrefix("-") ? dropFirst() : self[...]).split(separator: ".", omittingEmptySubsequences: false)
        let isFraction = parts.count == 2 && !parts[0].isEmpty && parts.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
        guard isFraction, hasSuffix("0") else { return self }
        let kept = String(reversed().drop { $0 == "0" }.reversed())
        return kept.hasSuffix(".") ? String(kept.dropLast()) : kept
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

/// A point in time in the years 0 to 9999, and the text into which a conversion changes it.
private struct ISODate {
    let milliseconds: Int64
    /// The point in time as text, with milliseconds and `Z`.
    let text: String

    init?(milliseconds: Int64) {
        guard (-62_167_219_200_000..<253_402_300_800_000).contains(milliseconds) else { return nil }
        let (days, rest) = Self.division(milliseconds, 86_400_000)
        let (year, month, day) = Self.civil(days)
        self.milliseconds = milliseconds
        text = String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day, Int(rest / 3_600_000),
            Int(rest / 60_000 % 60), Int(rest / 1_000 % 60), Int(rest % 1_000))
    }

    /// Reads a text such as `2020-01-31`, `2020-01-31T12:30:45Z` or `2020-01-31T12:30:45.678Z`; `nil` for any other
    /// text.
    ///
    /// The last character of a text of 20 bytes is taken for the `Z` and not checked.
    init?(_ text: String) {
        let whole = text.utf8.count == 10 ? "\(text)T00:00:00.000Z" : text
        let full = whole.utf8.count == 20 ? "\(whole.dropLast()).000Z" : whole
        guard full.utf8.count == 24, full.utf8.allSatisfy({ $0 < 128 }) else { return nil }
        func number(_ start: Int, _ count: Int) -> Int { Int(full.dropFirst(start).prefix(count)) ?? 0 }
        let days = Self.days(number(0, 4), number(5, 2), number(8, 2))
        let seconds = (days * 24 + number(11, 2)) * 3_600 + number(14, 2) * 60 + number(17, 2)
        // If the text is no valid date, such as February 30, reading it gives another date, whose text differs.
        guard let date = ISODate(milliseconds: Int64(seconds * 1_000 + number(20, 3))), date.text == full else {
            return nil
        }
        self = date
    }

    private static func division(_ number: Int64, _ divisor: Int64) -> (Int, Int64) {
        let quotient = number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
        return (Int(quotient), number - quotient * divisor)
    }

    /// Returns the days since 1970 in the Gregorian calendar; see Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms".
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let years = month <= 2 ? year - 1 : year
        let era = (years >= 0 ? years : years - 399) / 400
        let yearOfEra = years - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
