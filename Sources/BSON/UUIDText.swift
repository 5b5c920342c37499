/// Conversions of UUIDs to and from text.
package enum UUIDText {
    /// Returns the canonical text of 16 bytes: groups of 8, 4, 4, 4 and 12 hexadecimal digits in lower case (RFC 9562,
    /// section 4).
    package static func canonical(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }

    /// Returns the 16 bytes of a UUID's text in any of the common formats; `nil` for any other text.
    ///
    /// The text may have capital letters, be in braces or a URN, or lack the hyphens.
    package static func bytes(of text: String) -> [UInt8]? {
        var digits = text.lowercased()[...]
        if digits.hasPrefix("urn:uuid:") { digits = digits.dropFirst(9) }
        if digits.hasPrefix("{"), digits.hasSuffix("}") { digits = digits.dropFirst().dropLast() }
        let groups = digits.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.count == 1 || groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let joined = Array(groups.joined().utf8)
        guard joined.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let high = value(joined[index]), let low = value(joined[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// The byte order in which an old driver stored UUIDs of subtype 3.
package enum LegacyUUID: String, CaseIterable {
    /// The Java driver's order: the reverse of RFC 9562 in each half of eight bytes.
    case java
    /// The C# driver's order: the reverse of RFC 9562 in each of the first three groups, of 4, 2 and 2 bytes.
    case csharp
    /// The Python driver's order, which is the order of RFC 9562.
    case python

    /// Returns the bytes of a UUID in the order of RFC 9562, from the bytes that a driver stored in this byte order.
    package func standard(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .java: bytes[0..<8].reversed() + bytes[8..<16].reversed()
        case .csharp: bytes[0..<4].reversed() + bytes[4..<6].reversed() + bytes[6..<8].reversed() + bytes[8..<16]
        case .python: bytes
        }
    }
}
