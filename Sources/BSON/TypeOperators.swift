/// Lets libbson read queries such as `{"$type": "double"}`.
///
/// libbson 1.23 takes an object that begins with `$type` for binary data in the old form of extended JSON,
/// `{"$type": "00", "$binary": "…"}`, and refuses the object if it is not. These functions therefore give the name
/// `$type` in other objects another name of the same length, and change it back in the bytes that libbson returns.
enum TypeOperators {
    /// A name that begins with a noncharacter of Unicode, which no field of a document uses.
    private static let substitute = "\u{10FFFF}t"

    /// Returns the text with the substitute for `$type`; `nil` if there is nothing to substitute.
    static func substituted(in text: String) -> String? {
        guard text.contains("\"$type\""), !text.contains(substitute) else { return nil }
        // In JSON, a brace before a quotation mark is not within a string, where quotation marks are escaped.
        return text.replacing(/(\{\s*")\$type("\s*:)(?!\s*"[^"]*"\s*,\s*"\$binary")/) { match in
            "\(match.1)\(substitute)\(match.2)"
        }
    }

    /// Returns a document's bytes with `$type` in place of the substitute.
    static func restored(in bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for range in bytes.ranges(of: Array(substitute.utf8) + [0]) {
            result.replaceSubrange(range, with: Array("$type".utf8) + [0])
        }
        return result
    }
}
