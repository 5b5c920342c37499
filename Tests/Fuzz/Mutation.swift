import Proving

/// A mutation, which changes bytes as an attacker or an accident would.
struct Mutation {
    /// The largest size of an input in bytes.
    private static let maximumBytes = 200_000

    /// Texts that have a meaning for one of the program's readers.
    static let words: [String] = [
        "{", "}", "[", "]", "\"", "'", ":", ",", "\\", "\n", "\r\n", "\t", "- ", "&a ", "*a", "!!str ", "? ", "| ",
        "> ", "---\n",
        "<<: ", "$", "$$ROOT", "$literal", "$_internalJsEmit", "$function", "{$numberLong: \"1\"}", "{\"$oid\":\"",
        "\"$date\":",
        "\"$binary\":{\"base64\":\"", "9223372036854775807", "-9223372036854775808", "1e400", "NaN", "-0", "0x1F",
        "null", "true",
        "bsonType", "properties", "required", "_id", "enum", "$jsonSchema", "patternProperties", "additionalProperties",
        "items",
        "\\u0000", "\\ud800", "%(%%environment.values.", "\u{0}", "\u{1B}[2J", "\u{2028}", "\u{85}", "\u{202E}",
        "\u{FEFF}", "é",
        "../", "/", ".", "..", "admin", "local.oplog.rs", "(((((", "(a+)+$", "\\Q", "(?<n>", "\\i", "{1,65535}",
        "mongodb://", "@", "%",
    ]

    var random: Randomness

    /// Returns the bytes with a few changes.
    /// - Parameter others: other inputs, parts of which may be inserted.
    mutating func mutate(_ seed: [UInt8], with others: [[UInt8]]) -> [UInt8] {
        var bytes = seed
        for _ in 0..<(1 + random.below(random.percent(20) ? 24 : 5)) {
            change(&bytes, others)
            if bytes.count > Self.maximumBytes { bytes.removeSubrange(Self.maximumBytes...) }
        }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ others: [[UInt8]]) {
        let place = random.below(bytes.count + 1)
        switch random.below(12) {
        case 0: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
        case 1: if place < bytes.count { bytes[place] = UInt8(random.below(256)) }
        case 2, 3, 4: bytes.insert(contentsOf: Array(random.pick(Self.words).utf8), at: place)
        case 5: bytes.removeSubrange(piece(of: bytes))
        case 6: bytes.insert(contentsOf: bytes[piece(of: bytes)], at: place)
        case 7:
            let other = random.pick(others)
            bytes.insert(contentsOf: other[piece(of: other)], at: place)
        case 8: bytes.removeSubrange(place...)
        case 9: number(&bytes, from: place)
        case 10:
            let part = Array(bytes[piece(of: bytes)].prefix(64))
            bytes.insert(contentsOf: repeatElement(part, count: 1 << random.below(11)).joined(), at: place)
        default:
            let word = Array(
                random.pick(["[", "{\"a\":", "{\"properties\":{\"a\":", "{a: ", "(", "- ", "{\"not\":"]).utf8)
            bytes.insert(contentsOf: repeatElement(word, count: 1 << random.below(11)).joined(), at: place)
        }
    }

    private mutating func piece(of bytes: [UInt8]) -> Range<Int> {
        let start = random.below(bytes.count + 1)
        return start..<min(bytes.count, start + random.below(1 << random.below(14)))
    }

    /// Overwrites a number with an unusual one: either the four bytes at a position, where BSON may have a length, or
    /// the next decimal number after the position.
    private mutating func number(_ bytes: inout [UInt8], from place: Int) {
        if random.percent(50), place + 4 <= bytes.count {
            let value = random.pick([Int32.max, .min, -1, 0, 4, 5, 16 << 20, Int32(bytes.count)])
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> Int32(index * 8)) }
            return
        }
        guard let start = bytes[place...].firstIndex(where: { (0x30...0x39).contains($0) }) else { return }
        let end = bytes[start...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.count
        let value = random.pick([
            "0", "-1", "2147483648", "9223372036854775807", "18446744073709551616", "1e999", "0.1",
        ])
        bytes.replaceSubrange(start..<end, with: Array(value.utf8))
    }
}
