/// Finds the end of one JSON object, in text that arrives in several parts.
struct JSONExtent {
    /// The number of bytes that were scanned; the length of the object when ``isDone`` is true.
    private(set) var count = 0
    /// Whether the end of the object was found.
    private(set) var isDone = false
    /// The number of line breaks in the scanned bytes.
    private(set) var lineBreaks = 0
    /// Whether the text contains a plain number without a fraction, which relaxed JSON writes for `int` and `long`.
    private(set) var holdsPlainInteger = false

    /// The number of commas outside of strings.
    ///
    /// The number gives a lower bound for the size of the document in BSON: a comma separates two elements, and an
    /// element takes at least three bytes if its name is not empty.
    private(set) var commas = 0

    private var depth = 0
    private var isQuoted = false
    private var isEscaped = false
    private var quoteStart = 0
    /// Whether the next value belongs to the name `$timestamp`.
    private var followsTimestamp = false
    private var isInTimestamp = false
    private var isExempt = false
    private var isInteger = false

    /// Continues the scan.
    /// - Parameter text: the object's text so far, from its first byte; it may have grown since the last call.
    mutating func advance(in text: RawSpan) {
        while count < text.byteCount, !isDone {
            let byte = unsafe text.unsafeLoadUnaligned(fromByteOffset: count, as: UInt8.self)
            if isQuoted { quoted(byte, text) } else { bare(byte) }
            count += 1
        }
    }

    private mutating func bare(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            if !isExempt { isInteger = true }
            return
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            isInteger = false
            isExempt = true
            return
        case 0x0A: lineBreaks += 1
        case UInt8(ascii: "{"):
            depth += 1
            isInTimestamp = followsTimestamp
        case UInt8(ascii: "}"):
            depth -= 1
            isInTimestamp = false
        case UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: ","):
            commas += 1
            followsTimestamp = false
        case UInt8(ascii: "\""):
            isQuoted = true
            quoteStart = count
        default: break
        }
        if isInteger { holdsPlainInteger = true }
        isInteger = false
        if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") { isExempt = false }
        isDone = depth == 0
    }

    private mutating func quoted(_ byte: UInt8, _ text: RawSpan) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isQuoted = false
            let name = text.extracting(quoteStart + 1..<count)
            followsTimestamp = name.isEqual(to: "$timestamp")
            isExempt = isNameOfPlainNumber(name)
        } else if byte == 0x0A {
            lineBreaks += 1
        }
    }

    /// Whether a name is `$minKey` or `$maxKey`, or the name `t` or `i` in a timestamp.
    ///
    /// A number after such a name is a plain number even in canonical extended JSON.
    private func isNameOfPlainNumber(_ name: RawSpan) -> Bool {
        switch name.byteCount {
        case 1: isInTimestamp && (name.isEqual(to: "t") || name.isEqual(to: "i"))
        case 7: name.isEqual(to: "$minKey") || name.isEqual(to: "$maxKey")
        default: false
        }
    }
}
