import BSON

/// The numbers of strings at a path whose text looks like a value of another type.
package struct TextHints: Hashable, Sendable {
    /// The number of strings such as `2026-11-22` or `2026-11-22T02:14:06Z`.
    package internal(set) var dates = 0
    /// The number of strings such as `6f1c…-…`, with 36 characters.
    package internal(set) var uuids = 0
    /// The number of strings of 24 hexadecimal digits.
    package internal(set) var objectIDs = 0
    /// The number of strings such as `-12.5`, with up to 20 characters.
    package internal(set) var numbers = 0

    mutating func add(_ text: RawSpan) {
        let length = text.byteCount
        guard length > 0, length <= 40 else { return }
        if Self.isNumber(text) { numbers += 1 }
        if length == 24, Self.isHex(text, 0..<24) { objectIDs += 1 }
        if length == 36, Self.isUUID(text) { uuids += 1 }
        if Self.isDate(text) { dates += 1 }
    }

    mutating func merge(_ other: TextHints) {
        dates += other.dates
        uuids += other.uuids
        objectIDs += other.objectIDs
        numbers += other.numbers
    }

    private static func isDate(_ text: RawSpan) -> Bool {
        guard text.byteCount >= 10, isDigits(text, 0..<4), text[4] == dash, isDigits(text, 5..<7), text[7] == dash,
            isDigits(text, 8..<10)
        else { return false }
        return text.byteCount == 10 || text[10] == UInt8(ascii: "T") || text[10] == UInt8(ascii: " ")
    }

    private static func isUUID(_ text: RawSpan) -> Bool {
        [8, 13, 18, 23].allSatisfy { text[$0] == dash } && isHex(text, 0..<8) && isHex(text, 9..<13)
            && isHex(text, 14..<18) && isHex(text, 19..<23) && isHex(text, 24..<36)
    }

    private static func isNumber(_ text: RawSpan) -> Bool {
        guard text.byteCount <= 20 else { return false }
        var (digits, dots) = (0, 0)
        for index in 0..<text.byteCount {
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "."): dots += 1
            case dash where index == 0: break
            default: return false
            }
        }
        return digits > 0 && dots <= 1
    }

    private static var dash: UInt8 { UInt8(ascii: "-") }

    private static func isDigits(_ text: RawSpan, _ range: Range<Int>) -> Bool {
        range.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[$0] }
    }

    private static func isHex(_ text: RawSpan, _ range: Range<Int>) -> Bool {
        range.allSatisfy { index in
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
    }
}

extension RawSpan {
    fileprivate subscript(_ index: Int) -> UInt8 {
        precondition(index >= 0 && index < byteCount)
        return unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }
}
