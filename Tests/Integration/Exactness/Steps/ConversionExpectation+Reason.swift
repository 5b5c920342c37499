import BSON
import ServerSchema

/// The reasons why the step `convert` skips a value, as a run's report names them.
extension ConversionOutcome {
    static let (rounded, outOfRange, noValue) = ("rounded", "out of range", "not a number, date or id")

    /// Returns the reason for a value that the step does not convert to a type.
    static func reason(_ value: BSONValue, to type: SchemaType) -> String {
        switch type {
        case .int, .long: number(value).map { reason($0, to: type) } ?? noValue
        case .double: reasonOfDouble(value)
        case .decimal: number(value) == nil ? noValue : rounded
        case .bool: value.isNumber ? rounded : noValue
        case .string: value.isNumber ? rounded : value.isDate ? outOfRange : noValue
        case .objectId:
            value.text.map { $0.utf8.count == 24 && $0.allSatisfy(\.isHexDigit) } == true ? rounded : noValue
        case .date: reasonOfDate(value)
        default: noValue
        }
    }

    private static func reason(_ number: Double, to type: SchemaType) -> String {
        guard !number.isNaN else { return noValue }
        let whole = number.rounded(.towardZero)
        let isInRange = type == .int ? Int32(exactly: whole) != nil : Int64(exactly: whole) != nil
        return isInRange ? rounded : outOfRange
    }

    /// The reason for a value that does not become a double.
    ///
    /// A number is out of range if the nearest double is infinite or 0, and the number is not.
    private static func reasonOfDouble(_ value: BSONValue) -> String {
        if value.isDate { return rounded }
        guard let number = number(value) else { return noValue }
        let text: String = if case .decimal(let decimal) = value { decimal.description } else { value.text ?? "1" }
        let digits = text.prefix { !"eE".contains($0) }
        let isLost =
            number.isInfinite ? !text.lowercased().contains("inf") : number == 0 && digits.contains { "1"..."9" ~= $0 }
        return isLost ? outOfRange : rounded
    }

    /// The double nearest to a number, or to the text of one.
    private static func number(_ value: BSONValue) -> Double? {
        switch value {
        case .int(let number): return Double(number)
        case .long(let number): return Double(number)
        case .double(let number): return number
        case .decimal(let number): return Double(number.description)
        case .string(let text):
            let form = /[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])/
            return text.wholeMatch(of: form) == nil ? nil : Double(text)
        default: return nil
        }
    }

    /// The reason for a value that does not become a date.
    ///
    /// A text is only rounded if it has another ISO format than those that a date's text has.
    private static func reasonOfDate(_ value: BSONValue) -> String {
        switch value {
        case .objectID, .timestamp: return rounded
        case .string(let text):
            let form = /\d{4}-(\d\d)-(\d\d)([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]\d\d:?\d\d)?)?/
            guard let found = text.wholeMatch(of: form)?.output, let month = Int(found.1), let day = Int(found.2) else {
                return noValue
            }
            return 1...12 ~= month && 1...(month == 2 ? 29 : 31) ~= day ? rounded : noValue
        default:
            guard value.isNumber, let number = number(value), !number.isNaN else { return noValue }
            return reason(number, to: .long)
        }
    }
}

extension BSONValue {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .long, .double, .decimal: true
        default: false
        }
    }
    fileprivate var isDate: Bool { if case .date = self { true } else { false } }
}
