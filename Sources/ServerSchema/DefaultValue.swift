internal import BSON
internal import FoundationEssentials

/// Turns the JSON of a `default` into the BSON value that clients see.
///
/// Plain JSON and the wrappers of extended JSON are understood. A plain number takes the declared numeric type, as
/// plain JSON has only one.
struct DefaultValue {
    /// The types that the schema declares beside the default.
    let types: [SchemaType]

    /// The value, nested ones included.
    func value(_ json: LocatedJSON) throws(SchemaError) -> BSONValue {
        switch json.value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .string(let text): return .string(text)
        case .number(let text): return try number(text, json)
        case .array(let elements):
            var values: [BSONValue] = []
            for element in elements { values.append(try DefaultValue(types: []).value(element)) }
            return .array(of: values)
        case .object(let members):
            if let first = members.first, members.count == 1, first.name.hasPrefix("$") {
                return try wrapped(first)
            }
            var elements: [(String, BSONValue)] = []
            for member in members { elements.append((member.name, try DefaultValue(types: []).value(member.value))) }
            return .object(BSONDocument(elements))
        }
    }

    private func number(_ text: String, _ json: LocatedJSON) throws(SchemaError) -> BSONValue {
        let value: BSONValue? =
            switch types {
            case [.long]: Int64(text).map { .long($0) }
            case [.double]: Double(text).map { .double($0) }
            case [.decimal]: Decimal128(shortText: text).map { .decimal($0) }
            default: nil
            }
        if let value { return value }
        if let integer = Int(text) { return .integer(integer) }
        guard let double = Double(text) else { throw invalid("number", json) }
        return .double(double)
    }

    private func wrapped(_ member: LocatedJSON.Member) throws(SchemaError) -> BSONValue {
        let json = member.value
        let text = json.text ?? ""
        let value: BSONValue? =
            switch member.name {
            case "$numberInt": Int32(text).map { .int($0) }
            case "$numberLong": Int64(text).map { .long($0) }
            case "$numberDouble": Self.double(text).map { .double($0) }
            case "$numberDecimal": Decimal128(shortText: text).map { .decimal($0) }
            case "$oid": ObjectID(text).map { .objectID($0) }
            case "$uuid": Self.uuid(text).map { .binary(subtype: 4, bytes: $0) }
            case "$date": Self.milliseconds(json).map { .date(milliseconds: $0) }
            default:
                throw SchemaError(
                    .unsupported, at: member.nameLocation, "\(member.name) is not read in a default",
                    remedy: "leave the default out")
            }
        guard let value else { throw invalid(member.name, json) }
        return value
    }

    private func invalid(_ what: String, _ json: LocatedJSON) -> SchemaError {
        SchemaError(.wrongValue, at: json.location, "this is not a value of \(what)")
    }
}

extension DefaultValue {
    private static func double(_ text: String) -> Double? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: Double(text)
        }
    }

    private static func uuid(_ text: String) -> [UInt8]? {
        guard let id = UUID(uuidString: text)?.uuid else { return nil }
        return unsafe withUnsafeBytes(of: id) { unsafe Array($0) }
    }

    /// A date in ISO 8601, or as `{"$numberLong": …}`.
    private static func milliseconds(_ json: LocatedJSON) -> Int64? {
        if let number = json["$numberLong"]?.text { return Int64(number) }
        guard let text = json.text else { return nil }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        guard let date = try? Date(text, strategy: style) else { return nil }
        return Int64((date.timeIntervalSince1970 * 1000).rounded())
    }
}

extension Decimal128 {
    /// Reads a finite number of up to 19 digits; `nil` for all else.
    init?(shortText text: String) {
        let isNegative = text.hasPrefix("-")
        let parts = text.lowercased().dropFirst(isNegative ? 1 : 0).split(
            separator: "e", omittingEmptySubsequences: false)
        guard let mantissa = parts.first, parts.count <= 2 else { return nil }
        let digits = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        guard digits.count <= 2, digits.joined().allSatisfy(\.isNumber), let coefficient = UInt64(digits.joined()),
            var exponent = parts.count == 2 ? Int(parts[1]) : 0
        else { return nil }
        if digits.count == 2 { exponent -= digits[1].count }
        guard (-6176...6111).contains(exponent) else { return nil }
        self.init(high: (isNegative ? 1 << 63 : 0) | UInt64(exponent + 6176) << 49, low: coefficient)
    }
}
