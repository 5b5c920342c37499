/// The identity of a finding, by which a later run recognizes the finding even if its counts or its line have changed.
///
/// The text of a fingerprint is the 64-bit FNV-1a hash of the finding's parts, as 16 hexadecimal digits. Programs keep
/// fingerprints in files, so the hash must stay the same in later versions.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The 16 hexadecimal digits, in lower case.
    public let description: String

    /// Creates the fingerprint of a finding from its parts, such as the collection, the path and the rule.
    public init(of parts: [String]) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for part in parts {
            part.utf8.forEach(add)
            // This byte ends each part. No UTF-8 text contains it, so different lists of parts never give the same
            // bytes.
            add(0xFF)
        }
        let digits = String(hash, radix: 16)
        description = String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Reads the text of a fingerprint; `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 16, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        description = text
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
